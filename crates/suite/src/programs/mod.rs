//! Programs that make one mistake each, and their near misses.
//!
//! - `<area>/<name>.rs` is both: a body that makes its mistake, or does the nearest right thing in its place. Which of
//!   the two is its [`Way`]. The rest of the program is shared, and no line of it is written twice.
//! - With the mistake, the software driver says what stands in the `.stderr` beside it: every call that did not answer
//!   success, every finding. The near miss is refused nothing, nothing is found, and its numbers are right.
//! - [`Program`] is what they are written against; [`for_each_program!`](crate::for_each_program) lists them.
//!
//! `tests/programs.rs` runs them on the software driver; [`gpu`] runs them on NVIDIA's, and [`silent`]
//! those whose mistake a GPU does not notice.

pub mod gpu;
mod program;
pub mod silent;
mod way;

pub use program::{Answer, Program, report};
pub(crate) use program::{Mode, kernels, link as link_kit};
pub use way::Way;
pub(crate) use way::Way::{Mistake, NearMiss};

/// A mistake with its near miss.
#[derive(Clone, Copy)]
pub struct Listed {
    /// What it is about: the folder it stands in.
    pub area: &'static str,
    /// The file it stands in.
    pub name: &'static str,
    body: fn(&Program) -> Answer,
    /// The committed report about the mistake.
    pub expected: &'static str,
}

impl Listed {
    /// Its whole name, `area/name`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.area, self.name)
    }

    /// How many devices it wants: a machine with one GPU cannot run those of `devices`.
    pub fn devices(&self) -> usize {
        if self.area == "devices" { 2 } else { 1 }
    }

    /// Runs the body, in the way that the program is made for.
    ///
    /// # Errors
    ///
    /// - The code of a call that was refused and that the body does not go on from.
    pub fn run(&self, program: &Program) -> Answer {
        (self.body)(program)
    }

    /// The calls that the committed report says are refused, as `call -> CODE`.
    pub fn expected_codes(&self) -> Vec<&'static str> {
        self.expected.lines().filter(|line| line.starts_with("cu") && line.contains(" -> ")).collect()
    }
}

/// The one list of the programs, by area: hands it to the macro that is named.
#[macro_export]
macro_rules! for_each_program {
    ($consume:ident) => {
        $consume! {
            capture {
                allocate_beside_global_capture,
                bad_launch_in_capture,
                end_from_wrong_thread,
                end_on_forked_stream,
                event_of_finished_capture,
                launch_graph_into_capture,
                legacy_stream_beside_blocking_capture,
                merge_two_captures,
                query_captured_event,
                synchronize_while_capturing,
                unjoined_fork,
                wait_for_outside_event,
            }
            devices {
                event_of_another_device,
                no_peer_access,
            }
            graph {
                condition_never_set,
                cycle,
                endless_while,
                free_without_a_path,
                launch_of_destroyed_executable,
                node_added_after_instantiate,
                node_of_another_graph,
                update_with_another_topology,
                user_object_released_twice,
            }
            launch {
                arguments_too_short,
                barrier_in_both_branches,
                barrier_not_reached_by_all,
                barrier_that_is_not_there,
                endless_loop,
                integer_division_by_zero,
                missing_arguments,
                other_block_than_required,
                shuffle_from_exited_lane,
                shuffle_mask_without_a_lane,
                too_many_threads,
                too_much_shared_memory,
                trap,
                waits_for_nobody,
            }
            link {
                added_too_late,
                damaged_frame,
                defined_twice,
                destroyed_too_early,
                machine_code_of_another_gpu,
                not_visible,
                ptx_called_a_cubin,
                ptx_for_newer_gpus,
                unloaded_library,
                unresolved,
            }
            memory {
                advice_about_device_memory,
                array_destroyed_under_a_texture,
                attached_by_half,
                copy_past_the_array,
                copy_past_the_end,
                free_twice,
                freed_under_a_graph,
                freed_under_a_memset_node,
                global_address_as_shared,
                graph_memory_after_its_free,
                host_pool_without_access,
                into_the_next_allocation,
                load_straddles_the_end,
                managed_used_after_free,
                misaligned_vector_load,
                null_pointer,
                one_element_before,
                one_element_too_far,
                padding_not_set,
                prefetch_past_the_end,
                row_read_by_integers,
                shared_address_as_global,
                shared_out_of_bounds,
                surface_coordinate_in_texels,
                surface_past_the_row,
                texture_destroyed_too_early,
                texture_past_the_end,
                uninitialised_read,
                uninitialised_shared,
                used_after_free,
                value_in_managed_memory,
                write_to_parameter,
            }
            module {
                does_not_compile,
                launch_after_unload,
                mangled_name,
                newer_gpu,
                newer_ptx_version,
                not_ptx,
                unresolved_extern,
                unsupported_instruction,
            }
            race {
                atomic_of_one_block,
                barrier_with_another_count,
                blocks_add_to_one_total,
                cleared_beside_a_kernel,
                counter_set_beside_its_use,
                counter_set_by_the_first_block,
                edge_from_the_wrong_node,
                event_never_recorded,
                event_on_the_wrong_stream,
                event_recorded_too_early,
                flag_before_the_whole_block_is_done,
                flag_without_a_fence,
                flag_without_a_fence_behind_it,
                fork_taken_too_early,
                freed_while_another_stream_uses_it,
                grid_without_its_barrier,
                halves_of_one_word,
                joined_too_late,
                last_block_without_a_fence,
                legacy_stream_beside_non_blocking,
                missing_syncthreads,
                neighbour_over_the_edge_of_a_block,
                next_input_over_the_last,
                pageable_memory_in_a_graph,
                pinned_memory_of_two_streams,
                pool_memory_before_it_is_there,
                read_beside_a_replay,
                released_before_it_is_written,
                reused_address_under_a_graph,
                same_value_by_all_blocks,
                same_word_by_all,
                second_turn_without_barrier,
                two_branches_of_a_graph,
                two_graphs_one_buffer,
                two_kernels_one_buffer,
                two_streams_without_event,
                upload_beside_a_replay,
                wait_before_the_record,
                warp_without_syncwarp,
            }
            stream {
                destroyed_event,
                destroyed_stream,
                driver_call_in_host_function,
                external_record_outside_capture,
                time_between_events_without_time,
            }
        }
    };
}

macro_rules! list {
    ($($area:ident { $($name:ident),* $(,)? })*) => {
        $( mod $area { $( pub mod $name; )* } )*

        /// Every program.
        pub const LISTED: &[Listed] = &[$($(Listed {
            area: stringify!($area),
            name: stringify!($name),
            body: $area::$name::program,
            expected: include_str!(concat!(stringify!($area), "/", stringify!($name), ".stderr")),
        },)*)*];
    };
}

for_each_program!(list);
