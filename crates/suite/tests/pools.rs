//! Eight bucketed graphs in one pool take the arena of the largest, and are right in a thousand orders of replays.

use dacapo::Software;
use dacapo_sim::Detectors;
use dacapo_suite::forms::{RecordingOrder, eight_in_one_pool};

#[test]
fn eight_buckets_share_one_arena_and_a_thousand_orders_of_replays_are_right() {
    let all = [
        RecordingOrder::SmallestFirst,
        RecordingOrder::LargestFirst,
        RecordingOrder::Shuffled(1),
        RecordingOrder::Shuffled(2),
    ];
    // Each way of recording gets its part of the orders.
    for (number, recorded) in (0..).zip(all) {
        let device = Software::new().seed(number).options(|options| options.detectors = Detectors::all());
        let device = device.open().expect("the software device opens");
        let shared = eight_in_one_pool(&device, recorded, number * 250..(number + 1) * 250)
            .unwrap_or_else(|failure| panic!("{recorded:?}: {failure:?}"));
        device.synchronize().expect("all is well");
        assert_eq!(device.findings(), [] as [String; 0], "{recorded:?}");
        let ratio = shared.arena as f64 / shared.largest as f64;
        println!("{recorded:?}: {shared:?}, {ratio:.3} of the largest");
        assert!(ratio <= 1.05 && shared.apart > shared.arena, "{recorded:?}: {shared:?}");
    }
}
