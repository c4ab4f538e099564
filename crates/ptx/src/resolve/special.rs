//! Special registers by name (PTX ISA 10).

use crate::ir::Special;

/// `%tid` and `x` to the special register; `None` for names that are none.
pub(super) fn special(name: &str, component: Option<&str>) -> Option<Special> {
    use Special::*;
    let name = name.strip_prefix('%')?;
    if let Some(component) = component {
        let axis = match component {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return None,
        };
        return Some(match name {
            "tid" => Tid(axis),
            "ntid" => Ntid(axis),
            "ctaid" => Ctaid(axis),
            "nctaid" => Nctaid(axis),
            "clusterid" => ClusterId(axis),
            "nclusterid" => NclusterId(axis),
            "cluster_ctaid" => ClusterCtaid(axis),
            "cluster_nctaid" => ClusterNctaid(axis),
            _ => return None,
        });
    }
    if let Some(number) = name.strip_prefix("envreg") {
        return number.parse().ok().filter(|n| *n < 32).map(EnvReg);
    }
    Some(match name {
        "laneid" => LaneId,
        "warpid" => WarpId,
        "nwarpid" => NwarpId,
        "smid" => SmId,
        "nsmid" => NsmId,
        "gridid" => GridId,
        "clock" => Clock,
        "clock_hi" => ClockHi,
        "clock64" => Clock64,
        "globaltimer" => GlobalTimer,
        "globaltimer_lo" => GlobalTimerLo,
        "globaltimer_hi" => GlobalTimerHi,
        "lanemask_eq" => LaneMaskEq,
        "lanemask_le" => LaneMaskLe,
        "lanemask_lt" => LaneMaskLt,
        "lanemask_ge" => LaneMaskGe,
        "lanemask_gt" => LaneMaskGt,
        "dynamic_smem_size" => DynamicSmemSize,
        "total_smem_size" => TotalSmemSize,
        "aggr_smem_size" => AggrSmemSize,
        "cluster_ctarank" => ClusterCtaRank,
        "cluster_nctarank" => ClusterNctaRank,
        "is_explicit_cluster" => IsExplicitCluster,
        _ => return None,
    })
}

/// Names that PTX has and the interpreter does not know: performance counters and what the driver reserves.
pub(super) fn is_known_elsewhere(name: &str) -> bool {
    let Some(name) = name.strip_prefix('%') else { return false };
    name.strip_prefix("pm").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || name.starts_with("reserved_smem_offset_")
        || matches!(
            name,
            "current_graph_exec"
                | "tid"
                | "ntid"
                | "ctaid"
                | "nctaid"
                | "clusterid"
                | "nclusterid"
                | "cluster_ctaid"
                | "cluster_nctaid"
        )
}
