//! What users attach to calls, answers and errors.
#![cfg(test)]

use std::sync::Arc;

use tower_agent_core::Extensions;

#[derive(Debug, PartialEq)]
struct Tenant(u32);

#[derive(Debug, PartialEq)]
struct Trace(u32);

fn map(tenant: u32) -> Extensions {
    let mut map = Extensions::new();
    map.insert(Tenant(tenant));
    map
}

#[test]
fn a_new_map_is_empty() {
    for map in [Extensions::new(), Extensions::default()] {
        assert!(map.is_empty());
        assert_eq!(map.len(), 0);
        assert_eq!(map.get::<Tenant>(), None);
    }
}

#[test]
fn there_is_one_value_per_type_and_the_last_one_counts() {
    let mut map = map(1);
    assert_eq!(map.insert(Trace(9)), None);
    assert_eq!(map.insert(Tenant(2)).as_deref(), Some(&Tenant(1)));
    assert_eq!((map.get(), map.get(), map.len()), (Some(&Tenant(2)), Some(&Trace(9)), 2));
}

#[test]
fn what_was_removed_is_gone_and_removing_nothing_gives_nothing() {
    let mut map = map(1);
    assert_eq!(map.remove::<Trace>(), None);
    assert_eq!(map.remove::<Tenant>().as_deref(), Some(&Tenant(1)));
    assert_eq!(map.remove::<Tenant>(), None);
    assert!(map.is_empty());
    assert_eq!(Extensions::new().remove::<Tenant>(), None);
}

#[test]
fn a_change_never_reaches_a_clone_but_values_are_shared() {
    let before = map(1);
    let mut after = before.clone();
    after.insert(Trace(9));
    assert_eq!((before.len(), after.len()), (1, 2));
    let (ours, theirs) = (before.get_arc::<Tenant>().unwrap(), after.get_arc::<Tenant>().unwrap());
    assert!(Arc::ptr_eq(&ours, &theirs));
    after.insert(Tenant(2));
    assert_eq!(before.get(), Some(&Tenant(1)));
}

#[test]
fn a_handle_outlives_the_map() {
    let handle = map(1).get_arc::<Tenant>().unwrap();
    assert_eq!(*handle, Tenant(1));
}

#[test]
fn extending_takes_over_what_the_other_map_holds() {
    let mut map = map(1);
    let mut more = Extensions::new();
    more.insert(Tenant(2));
    more.insert(Trace(9));
    map.extend(&more);
    assert_eq!((map.get(), map.get()), (Some(&Tenant(2)), Some(&Trace(9))));
    map.extend(&Extensions::new());
    assert_eq!(map.len(), 2);

    let mut empty = Extensions::new();
    empty.extend(&map);
    empty.remove::<Trace>();
    assert_eq!((empty.len(), map.len()), (1, 2));
}

#[test]
fn debug_lists_types_and_no_values() {
    let mut map = map(424_242);
    map.insert(Trace(1));
    let shown = format!("{map:?}");
    assert!(shown.contains("Tenant") && shown.contains("Trace"), "{shown}");
    assert!(!shown.contains("424242"), "{shown}");
}
