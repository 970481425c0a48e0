//! Snapshots of filters of every kind: what is loaded, what is refused, in which steps, and beside
//! writers.

#![cfg(feature = "std")]

mod beside_writers;
#[path = "../common/mod.rs"]
mod common;
mod damage;
mod fields;
mod hashers;
mod limits;
mod loaded;
mod pushes;
mod replicas;
mod sizes;
mod stack;
mod steps;
mod views;
