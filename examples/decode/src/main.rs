//! Decodes with a small transformer, a whole step in one graph, and checks that nothing was lost by it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use dacapo::collective::Launcher;
use dacapo::{Device, Error, Result};
use dacapo_example_decode::checkpoint::program::Asked;
use dacapo_example_decode::checkpoint::{self, Choice};
use dacapo_example_decode::gpt2;
use dacapo_example_decode::ranks::{Outcome, Ranks, RanksRuns};
use dacapo_example_decode::show::{Pace, Plan};
use dacapo_example_decode::steady::median;
use dacapo_example_decode::traffic::Served;
use dacapo_example_decode::until_end::UntilEnd;
use dacapo_example_decode::verdict::{self, Check};
use dacapo_example_decode::{Model, Shape, Until, Way, Weights};
use indicatif::{ProgressBar, ProgressStyle};

/// Decodes with a small transformer, a whole step in one graph, and checks that nothing was lost by it.
///
/// Token, position, keys and values and the random numbers are device memory that a step itself moves on: the host only
/// launches. Shown are: the logits against plain Rust; tokens a second launch by launch and replayed, with the same tokens
/// from both; the driver calls of the steady state; and requests that come and go, their batches rounded up to buckets. With
/// --until-end, whole texts instead: a loop around the step that runs on the device, in one launch, held against a host that
/// reads after each step whether there is another. With --ranks, the layers' matrices are split over several devices, which
/// must decode as one. The exit code is 0 when all checks held, 1 when one did not, 2 when the
/// device refused.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Decode with a checkpoint in place of made-up weights: a folder with config.json, safetensors files and tokenizer.json
    #[arg(long, value_name = "DIR", requires = "prompt")]
    model: Option<PathBuf>,
    /// With --model: what the text begins with
    #[arg(long, value_name = "TEXT", requires = "model")]
    prompt: Option<String>,
    /// With --model: new tokens at most
    #[arg(long, default_value_t = 64, requires = "model")]
    tokens: usize,
    /// With --model: launch by launch, without a graph
    #[arg(long, requires = "model", conflicts_with = "until_end")]
    eager: bool,
    /// Where to decode
    #[arg(long, value_enum, default_value_t = Where::Best)]
    device: Where,
    /// How large the transformer is; the options below change parts of it
    #[arg(long, value_enum, default_value_t = Size::Small)]
    size: Size,
    /// Blocks of attention and MLP
    #[arg(long)]
    layers: Option<usize>,
    /// Numbers of a token's vector
    #[arg(long)]
    dim: Option<usize>,
    /// Attention heads
    #[arg(long)]
    heads: Option<usize>,
    /// Numbers inside the MLP
    #[arg(long)]
    hidden: Option<usize>,
    /// Tokens there are
    #[arg(long)]
    vocabulary: Option<usize>,
    /// Tokens of a sequence at most
    #[arg(long)]
    context: Option<usize>,
    /// Sequences at the same time: the largest batch
    #[arg(long)]
    sequences: Option<usize>,
    /// Batch sizes that get a graph; the largest is always among them
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16, 32])]
    buckets: Vec<usize>,
    /// How many graphs there may be at a time; as many as buckets where no number is given
    #[arg(long)]
    max_graphs: Option<usize>,
    /// Steps of the steady state, or new tokens of a text at most; as many as the context has where none are given
    #[arg(long)]
    steps: Option<usize>,
    /// Rounds of that many steps that are timed, for each way
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Requests that come and go
    #[arg(long, default_value_t = 24)]
    requests: usize,
    /// How even the choice of a token is; 0 takes the likeliest, which is what --model does where none is given; else 0.8
    #[arg(long)]
    temperature: Option<f32>,
    /// Among how many of the likeliest is chosen; 0 is all
    #[arg(long, default_value_t = 40)]
    top_k: u32,
    /// Write whole texts, each to its own end: all steps in one launch
    #[arg(long, conflicts_with = "trace")]
    until_end: bool,
    /// With --until-end: when the loop ends
    #[arg(long, value_enum, default_value_t = Which::All, requires = "until_end")]
    until: Which,
    /// With --until-end: a text that chooses this token ends with it; where none is given, the one that makes lengths differ
    /// most
    #[arg(long, requires = "until_end")]
    end_token: Option<u32>,
    /// Time the operations of one step, print them, and write them to this file for Perfetto
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Decode at GPT-2-small's sizes in bf16, the likeliest token each time, in place of the step in f32; with --size tiny,
    /// small enough for the software device. --sequences, --steps, --rounds and --seed count here too
    #[arg(long, conflicts_with_all = ["until_end", "trace"])]
    gpt2: bool,
    /// Split the layers over so many devices, each with its part of the heads, of the MLP and of the cache: threads of this
    /// process, or one of the processes that torchrun, mpirun or srun has started
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=64))]
    #[arg(conflicts_with_all = ["gpt2", "model", "until_end", "trace", "buckets", "max_graphs", "rounds", "requests"])]
    ranks: Option<u8>,
    /// Decides weights, prompts, arrivals and what is drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, ValueEnum)]
enum Where {
    /// A GPU where there is one, else the software device
    Best,
    /// The first GPU
    Cuda,
    /// The software device: no GPU, no speed, the same results
    Software,
}

impl Where {
    fn open(self) -> Result<Device> {
        match self {
            Where::Best => Device::best(),
            Where::Cuda => Device::cuda(0),
            Where::Software => Device::software(),
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    /// When every text has ended
    All,
    /// As soon as one has
    First,
}

#[derive(Clone, Copy, ValueEnum)]
enum Size {
    /// 2 layers of 32: seconds on the software device
    Tiny,
    /// 4 layers of 256
    Small,
    /// 12 layers of 768, vocabulary 4096: for a GPU
    Medium,
}

impl Size {
    fn shape(self) -> Shape {
        match self {
            Size::Tiny => Shape::TINY,
            Size::Small => Shape::SMALL,
            Size::Medium => Shape::MEDIUM,
        }
    }
}

impl Arguments {
    /// What they ask for.
    fn plan(&self) -> Result<Plan, String> {
        let base = self.size.shape();
        let shape = Shape {
            layers: self.layers.unwrap_or(base.layers),
            dim: self.dim.unwrap_or(base.dim),
            heads: self.heads.unwrap_or(base.heads),
            hidden: self.hidden.unwrap_or(base.hidden),
            vocabulary: self.vocabulary.unwrap_or(base.vocabulary),
            context: self.context.unwrap_or(base.context),
            sequences: self.sequences.unwrap_or(base.sequences),
        };
        shape.check()?;
        let steps = self.steps.unwrap_or(shape.context);
        if steps == 0 || steps > shape.context {
            return Err(format!("{steps} steps do not fit a context of {}", shape.context));
        }
        if self.rounds == 0 || self.requests == 0 {
            return Err("at least one round and one request".into());
        }
        let mut buckets: Vec<usize> =
            self.buckets.iter().copied().filter(|&size| size > 0 && size < shape.sequences).collect();
        buckets.push(shape.sequences);
        buckets.sort_unstable();
        buckets.dedup();
        Ok(Plan {
            shape,
            graphs_max: self.max_graphs.unwrap_or(buckets.len()),
            buckets,
            steps,
            rounds: self.rounds,
            requests: self.requests,
            temperature: self.temperature.unwrap_or(0.8),
            top_k: self.top_k,
            seed: self.seed,
        })
    }
}

impl Arguments {
    /// Decodes in bf16, prints, and says whether all checks held.
    fn gpt2(&self, device: &Device) -> Result<bool> {
        let base = if matches!(self.size, Size::Tiny) { gpt2::Shape::TINY } else { gpt2::Shape::SMALL };
        let shape = gpt2::Shape { sequences: self.sequences.unwrap_or(1), ..base };
        let steps = self.steps.unwrap_or(base.context - 1);
        let plan = gpt2::show::Plan { shape, steps, rounds: self.rounds, seed: self.seed as u32 };
        plan.check().map_err(dacapo::Error::msg)?;
        let (pace, checks) = plan.run(device)?;
        println!("{}: {pace}", device.properties().name);
        if device.is_software() {
            println!("{NO_TIMES}");
        }
        Ok(verdicts(&checks))
    }
}

const NO_TIMES: &str = "these are times of the software device and say nothing of a GPU";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let (Some(folder), Some(prompt)) = (&arguments.model, &arguments.prompt) {
        return with_checkpoint(&arguments, folder, prompt);
    }
    let plan = match arguments.plan() {
        Ok(plan) => plan,
        Err(refused) => {
            eprintln!("error: {refused}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments, &plan) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::from(2)
        }
    }
}

/// Writes a text with a checkpoint.
fn with_checkpoint(arguments: &Arguments, folder: &Path, prompt: &str) -> ExitCode {
    let choice = match arguments.temperature {
        Some(temperature) if temperature > 0.0 => Choice::Drawn { temperature, seed: arguments.seed },
        _ => Choice::Greedy,
    };
    let how = match (arguments.eager, arguments.until_end) {
        (true, _) => checkpoint::How::Eager,
        (false, true) => checkpoint::How::OneLaunch,
        (false, false) => checkpoint::How::Replayed,
    };
    let opt_trace = arguments.trace.as_deref();
    let asked = Asked { folder, prompt, tokens: arguments.tokens.max(1), choice, how, opt_trace };
    let device = arguments.device.open().map_err(checkpoint::Failure::from);
    match device.and_then(|device| checkpoint::program::run(&device, &asked, &mut std::io::stdout())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(2)
        }
    }
}

/// Decodes, prints, and says whether all checks held.
fn run(arguments: &Arguments, plan: &Plan) -> Result<bool> {
    if let Some(ranks) = arguments.ranks {
        return run_ranks(plan, &ranks_of(arguments.device, ranks.into())?);
    }
    let device = arguments.device.open()?;
    if arguments.gpt2 {
        return arguments.gpt2(&device);
    }
    if arguments.until_end {
        let until = match arguments.until {
            Which::All => Until::All,
            Which::First => Until::First,
        };
        return whole_texts(&device, plan, until, arguments.end_token);
    }
    let reference_steps = 16.min(plan.shape.context);
    let progress = bar(reference_steps + 2 * (plan.rounds + 1) + 2 * plan.requests);
    progress.set_message("weights");
    let weights = Weights::new(&plan.shape, plan.seed);
    let model = Model::new(&device, plan.shape, &weights)?;
    progress.set_message("plain Rust");
    let mut checks = vec![plan.against_reference(&device, &model, &weights, reference_steps, || progress.inc(1))?];
    progress.set_message("pace");
    let (pace, same) = plan.pace(&device, &model, || progress.inc(1))?;
    checks.push(same);
    progress.set_message("calls");
    let (calls, only_launches) = plan.steady_calls(&device, &weights)?;
    checks.extend(only_launches);
    progress.set_message("traffic");
    let (served, same) = plan.traffic(&device, &model, || progress.inc(1))?;
    checks.extend(same);
    let profile = match &arguments.trace {
        Some(_) => plan.profile(&device, &model)?,
        None => None,
    };
    checks.extend(device.findings().into_iter().map(|what| Check { what, held: false }));
    progress.finish_and_clear();

    header(&device, &plan.shape);
    println!("\nsteady state: {} steps of {} sequences, {} operations a step", plan.steps, pace.batch, pace.operations);
    paces(&pace, plan.rounds, device.is_software());
    println!("\ndriver calls of the steady state");
    calls.iter().for_each(|calls| println!("{calls}"));
    println!("\n{} requests, in batches of up to {}, buckets {:?}", plan.requests, plan.batch(), plan.buckets);
    traffics(&served);
    profile.iter().for_each(|profile| println!("\n{profile}"));
    let held = verdicts(&checks);
    // Behind the checks: what was found is told also where the file cannot be written.
    if let (Some(profile), Some(path)) = (profile, &arguments.trace) {
        std::fs::write(path, profile.trace())
            .map_err(|error| dacapo::Error::msg(format!("{}: {error}", path.display())))?;
    }
    Ok(held)
}

/// Writes whole texts, prints, and says whether all checks held.
fn whole_texts(device: &Device, plan: &Plan, until: Until, end_token: Option<u32>) -> Result<bool> {
    let reference_steps = 16.min(plan.steps);
    let progress = bar(reference_steps + Way::ALL.len() * (plan.rounds + 1));
    progress.set_message("weights");
    let weights = Weights::new(&plan.shape, plan.seed);
    let model = Model::new(device, plan.shape, &weights)?;
    let until_end = UntilEnd::new(device, &model, plan, until, end_token)?;
    progress.set_message("plain Rust");
    let mut checks = vec![until_end.against_reference(device, &model, &weights, reference_steps, || progress.inc(1))?];
    progress.set_message("texts");
    let (texts, found) = until_end.texts(device, &model, || progress.inc(1))?;
    checks.extend(found);
    progress.set_message("calls");
    let (calls, only_launches) = until_end.calls(device, &weights)?;
    checks.push(only_launches);
    checks.extend(device.findings().into_iter().map(|what| Check { what, held: false }));
    progress.finish_and_clear();

    header(device, &plan.shape);
    println!("\nwhole texts of {} sequences, end token {}: {texts}", plan.batch(), until_end.end_token);
    if device.is_software() {
        println!("{NO_TIMES}");
    }
    println!("\ndriver calls of\n{calls}");
    Ok(verdicts(&checks))
}

/// Where so many ranks are: where a launcher says, else on as many devices of this process.
fn ranks_of(device: Where, size: usize) -> Result<Ranks> {
    let gpus = match device {
        Where::Software => false,
        Where::Cuda => true,
        Where::Best => !Device::best()?.is_software(),
    };
    match Launcher::from_env() {
        Ok(place) if place.size == size && size > 1 => Ok(Ranks::Process { place, software: !gpus }),
        // A shell that Slurm has given says that it is one of one.
        Ok(place) if place.size > 1 => {
            Err(Error::msg(format!("the launcher has started {} processes, and --ranks says {size}", place.size)))
        }
        _ if matches!(device, Where::Cuda) || gpus && Device::count()? >= size => Ok(Ranks::Cuda(size)),
        _ => Ok(Ranks::Software(size)),
    }
}

/// Decodes on several ranks, prints where rank 0 is, and says whether all checks held.
fn run_ranks(plan: &Plan, ranks: &Ranks) -> Result<bool> {
    ranks.check(plan)?;
    let progress = bar(ranks.steps(plan));
    progress.set_message("weights");
    let weights = Weights::new(&plan.shape, plan.seed);
    let done = |run| {
        progress.set_message(run);
        progress.inc(1);
    };
    let runs = ranks.runs(plan, &weights, done)?;
    progress.finish_and_clear();

    let checks = verdict::ranks_checks(ranks.size(), &runs);
    if !ranks.is_first() {
        return Ok(checks.iter().all(|check| check.held));
    }
    header(&runs.device, &plan.shape);
    shares(plan, ranks.size(), &runs);
    println!("\ndriver calls of the steady state");
    runs.again.calls.iter().for_each(|(calls, _)| println!("{calls}"));
    Ok(verdicts(&checks))
}

/// What a rank has, what it chose, and how long it took.
fn shares(plan: &Plan, size: usize, runs: &RanksRuns) {
    let RanksRuns { device, eager, replayed, plain, .. } = runs;
    let Shape { heads, hidden, .. } = plan.shape;
    let ranks = if size == 1 { "rank" } else { "ranks" };
    println!(
        "\n{size} {ranks} with {} of {heads} heads and {} of {hidden} numbers inside each",
        heads / size,
        hidden / size
    );
    let ([weights, cache], [all_weights, all_cache]) = (replayed.outcome.bytes, plain.bytes);
    println!(
        "each with {weights} bytes of weights and {cache} of keys and values; one device: {all_weights} and {all_cache}"
    );
    let [nodes, edges, reduced] = replayed.outcome.graph.unwrap_or_default();
    println!("each with one graph of {nodes} nodes and {edges} edges, {reduced} of the nodes all-reduces");
    let texts = &replayed.outcome.decoded;
    for (kind, text) in [("drawn", &texts.drawn.texts[0]), ("likeliest", &texts.greedy.texts[0])] {
        let tokens: Vec<String> = text.iter().take(TOKENS_SHOWN).map(u32::to_string).collect();
        println!("{kind:<10} {}{}", tokens.join(" "), if text.len() > TOKENS_SHOWN { " .." } else { "" });
    }
    let us = |outcome: &Outcome| outcome.decoded.unwatched.seconds * 1e6 / plan.steps as f64;
    let [a, b, c] = [&eager.outcome, &replayed.outcome, plain].map(us);
    println!("us a step: {a:.0} eager, {b:.0} replayed, {c:.0} without ranks");
    if device.is_software() {
        println!("{NO_TIMES}");
    }
}

/// How many tokens of a text are printed.
const TOKENS_SHOWN: usize = 24;

/// A bar of so many parts.
fn bar(parts: usize) -> ProgressBar {
    let progress = ProgressBar::new(parts as u64);
    if let Ok(style) = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len}") {
        progress.set_style(style);
    }
    progress
}

/// Where, and with what.
fn header(device: &Device, shape: &Shape) {
    let Shape { layers, dim, heads, hidden, vocabulary, context, sequences } = *shape;
    println!(
        "{}, CUDA {}.{}: {layers} layers of {dim} with {heads} heads and {hidden} inside, vocabulary {vocabulary}, context {context}: \
         {} weights, room for {sequences} sequences",
        device.properties().name,
        device.properties().driver_version / 1000,
        device.properties().driver_version % 1000 / 10,
        shape.parameters()
    );
}

/// Prints the checks, and says whether all held.
fn verdicts(checks: &[Check]) -> bool {
    println!();
    for check in checks {
        println!("{}  {}", if check.held { "ok    " } else { "FAILED" }, check.what);
    }
    checks.iter().all(|check| check.held)
}

/// Tokens a second; the software device's are named as what they are.
fn paces(pace: &Pace, rounds: usize, is_software: bool) {
    println!("{:<10} {:>30} {:>16}   of {rounds} rounds", "", "us a step: median (all)", "tokens a second");
    for (name, times) in [("eager", &pace.eager), ("replayed", &pace.replayed)] {
        let (least, most) = (times.first().copied().unwrap_or(f64::NAN), times.last().copied().unwrap_or(f64::NAN));
        let spread = format!("{:.1} ({:.1} .. {:.1})", 1e6 * median(times), 1e6 * least, 1e6 * most);
        println!("{name:<10} {spread:>30} {:>16.0}", pace.batch as f64 / median(times));
    }
    println!("replayed, {:.2} times as many tokens a second", median(&pace.eager) / median(&pace.replayed));
    if is_software {
        println!("{NO_TIMES}");
    }
}

/// Batches as they were and as they ran.
fn traffics([eager, replayed]: &[Served; 2]) {
    println!(
        "{:<10} {:>8} {:>8} {:>12} {:>14} {:>8}",
        "", "steps", "tokens", "rows padded", "batch changes", "rows/step"
    );
    for (name, served) in [("eager", eager), ("replayed", replayed)] {
        let (tokens, rows) = (served.tokens(), served.rows());
        let mean = rows as f64 / served.steps.max(1) as f64;
        println!("{name:<10} {:>8} {tokens:>8} {:>12} {:>14} {mean:>8.1}", served.steps, rows - tokens, served.changes);
    }
    replayed.cache.iter().for_each(|counters| println!("graphs: {counters}"));
    println!("they share {} bytes for what a step needs in between", replayed.arena_bytes);
}
