//! A cache under traffic: never over its caps, its counters add up, its results are right. `cargo xtask cache --full`
//! sends a hundred thousand requests.

use dacapo_suite::traffic::{Traffic, on_software};

#[test]
fn zipf_traffic_stays_within_the_caps_and_is_served_right() {
    for seed in 0..2 {
        let summary = on_software(Traffic { requests: 1_500, seed, sample: 7 }).unwrap();
        println!("{summary}");
        let [bucketed, by_graphs, by_bytes] = &summary.services[..] else { panic!("three services") };
        // The traffic is worth something: each path was taken, often.
        assert!(bucketed.counters.padded > 100 && bucketed.counters.eager > 0 && bucketed.counters.evicted > 10);
        assert!(by_graphs.counters.hits > 100 && by_graphs.counters.evicted > 50 && by_graphs.counters.eager == 0);
        assert!(by_bytes.counters.hits > 50 && by_bytes.counters.evicted > 10 && by_bytes.counters.eager > 0);
        assert_eq!(by_graphs.most.0, 12);
    }
}
