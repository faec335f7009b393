//! Regent, the program: reads its environment once, puts the parts together, and runs one operation.
//!
//! Start reading at [`start`]. `operations` makes the command line from the operations of `app`; `attend` is what a person sees
//! and answers while work goes on; the crate `host` has what it needs of the machine.

mod args;
mod attend;
#[cfg(feature = "faults")]
mod faults;
mod help;
mod input;
mod io;
mod live;
mod model_reporter;
mod operations;
mod show;
mod terminal;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use app::instance::paths::InstancePaths;
use app::instance::settings::Settings;
use app::operation::{Offer, OperationCaller, PermittedCall};
use app::{App, Code, Parts, Problem, Timing};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};
use domain::IdSource;
use domain::probe::Probe;
use host::model_selection::{ConfiguredModelAdmin, ConfiguredModels};
use host::{
    FileSizeLimit, HostConfig, OsHost, OsIds, ProcessEnvironment, SettingsSource, StoreWrapper, SystemClock,
};
use tokio::runtime::Runtime;

use app::operation::OperationError;
use app::tasks::TaskStreamEvent;
use args::{Args, Color, Command, Global};
use io::TerminalIo;
use live::Live;
use model_reporter::ScreenReporter;
use operations::CommandSet;
use show::Screen;
use terminal::TerminalSession;

/// What a shell expects after Ctrl-C.
const INTERRUPTED: u8 = 130;
/// How long a command that was interrupted may take to end.
const STOPPING: std::time::Duration = std::time::Duration::from_secs(2);

fn main() -> ExitCode {
    let surroundings = ProcessEnvironment::read();
    host::model_selection::guard_keys(&surroundings);
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let what = format!("the runtime does not start: {error}");
            let screen = Screen::new(false, Color::Never, false, &surroundings);
            return ExitCode::from(report(&screen, Problem::new(Code::INTERNAL, what).into()));
        }
    };
    // Before anything is written, and be it the help.
    let limit = FileSizeLimit::listen(&runtime);
    let (global, invocation) = match read_arguments(&surroundings) {
        Ok(read) => read,
        Err(error) => return ExitCode::from(usage(&error, &surroundings)),
    };
    let screen = Screen::new(global.json, color(&global, "auto", &surroundings), false, &surroundings);
    let done = match invocation {
        Invocation::Operation(call) => start(&global, call, &surroundings, &screen, runtime, limit),
        Invocation::Command(Command::Completions { shell }) => help::print_completions(shell),
        Invocation::Command(Command::Help { topic }) => help::print_help(&screen, &topic),
    };
    ExitCode::from(done.unwrap_or_else(|error| report(&screen, error)))
}

/// What the program was asked for.
enum Invocation {
    Operation(PermittedCall),
    Command(Command),
}

fn read_arguments(surroundings: &ProcessEnvironment) -> Result<(Global, Invocation), clap::Error> {
    let offer = Offer::to(OperationCaller::Owner);
    let named = CommandSet::named_by(&offer, &surroundings.arguments);
    let matches = command_line(&offer, named).try_get_matches_from(&surroundings.arguments)?;
    let global = Global::from_arg_matches(&matches)?;
    let invocation = match operations::find(&offer, &matches)? {
        Some(call) => Invocation::Operation(call),
        None => Invocation::Command(Command::from_arg_matches(&matches)?),
    };
    Ok((global, invocation))
}

/// What can be typed after `regent`.
fn command_line(offer: &Offer, set: CommandSet) -> clap::Command {
    operations::add_commands(Args::command(), offer, set)
}

fn start(
    global: &Global,
    call: PermittedCall,
    surroundings: &ProcessEnvironment,
    screen: &Screen,
    runtime: Runtime,
    mut limit: FileSizeLimit,
) -> Result<u8, OperationError> {
    host::start_logging(global.log_file.as_deref(), surroundings.variable("RUST_LOG"))?;
    let requirements = call.requirements();
    let paths = match surroundings.locate_instance() {
        Ok(paths) => paths,
        // Below what is no folder there is no house, whatever lies in the current one.
        Err(_) if !requirements.instance => InstancePaths::under(Path::new("/dev/null")),
        Err(trouble) => return Err(trouble.into()),
    };
    let settings_source = SettingsSource {
        file: paths.settings_file(),
        environment: surroundings.variables.clone(),
        flags: global.settings(),
    };
    let (settings, mistakes) = match settings_source.read() {
        Ok(settings) => (settings, Vec::new()),
        // These help to put a wrong setting right, so a wrong setting does not keep them from it.
        Err(unread) if !requirements.settings => (Settings::default(), unread.mistakes()),
        Err(unread) => return Err(unread.problem().into()),
    };
    let accessible = settings.get("ui.accessible") == "yes";
    let color = color(global, settings.get("ui.color"), surroundings);
    let screen = Screen::new(screen.json, color, accessible, surroundings);
    let works = call.spec().starts_work;
    let progress = global.progress.unwrap_or_default();
    let live = Live::new(live::choose_mode(progress, screen.capabilities(surroundings))?, &screen);
    // Never dropped: closing the database would cost every command a checkpoint, and what is durable needs no
    // closing. The next process finds the log beside the database and goes on from there, as after a crash.
    let app: &'static App = Box::leak(Box::new(App::new(parts(
        paths,
        settings_source,
        settings,
        mistakes,
        surroundings,
        &screen,
    ))));
    let done = runtime.block_on(async {
        let seat = TerminalSession::default();
        let io = TerminalIo::new(app, &screen, surroundings, &seat, &live);
        let mut command = std::pin::pin!(async {
            if works {
                screen.note_page(&app.policies().render_warning(screen.note_theme()).await);
            }
            operations::run(call, app, &screen, &io).await
        });
        tokio::select! {
            biased; // it listens for signals before it does anything
            () = interrupted() => {
                // Whoever is asked leaves without an answer: the task waits, and says so.
                if seat.stopped_while_asked() {
                    tokio::select! {
                        () = interrupted() => {}
                        () = tokio::time::sleep(STOPPING) => {}
                        done = &mut command => return done,
                    }
                }
                // What runs is told, and may say how far it came; whoever cannot wait asks a second time.
                live.stop(app.now());
                if app.stop() {
                    tokio::select! {
                        () = interrupted() => {}
                        () = tokio::time::sleep(STOPPING) => {}
                        _ = &mut command => {}
                    }
                }
                live.close(app.now());
                tell_interrupted(&screen, works, &live);
                Ok(INTERRUPTED)
            }
            done = &mut command => done,
        }
    });
    let done = match done {
        Err(OperationError::Problem(problem)) => Err(runtime.block_on(limit.explain(*problem)).into()),
        done => done,
    };
    tell(app, &screen);
    if let Some(upgrade) = app.instance().upgraded() {
        screen.note(&upgrade.describe_done());
    }
    // A tool that is still walking a tree must not keep the program from ending.
    runtime.shutdown_background();
    done
}

/// How to go on, where there may be something to go on with.
fn tell_interrupted(screen: &Screen, works: bool, live: &Live) {
    let how = match live.name() {
        _ if !works => String::new(),
        Some(task) => format!("; regent resume {task} goes on"),
        None => "; regent resume goes on".to_owned(),
    };
    screen.note(&format!("interrupted: what was done is saved{how}"));
    if screen.json && works {
        let line = TaskStreamEvent::Interrupted { task: live.progress().task, exit: INTERRUPTED };
        drop(screen.json_line(&line).and_then(|()| screen.flush())); // whoever closed it had enough
    }
}

/// What the owner has to know whatever they asked for.
fn tell(app: &App, screen: &Screen) {
    // Whoever sets up a house from a script finds it with `regent audit verify --json`.
    if let Some(root) = app.instance().new_root().filter(|_| screen.is_watched()) {
        screen.note(&format!("this house is new. The root of its audit, to be kept elsewhere: {root}"));
    }
    if app.instance().healed() {
        let command = screen.note_tinted("regent audit verify", show::Tone::Command);
        screen.note(&format!(
            "the audit was changed outside the program; it goes on in a new epoch: {command}"
        ));
    }
}

fn parts(
    paths: InstancePaths,
    settings_source: SettingsSource,
    settings: Settings,
    mistakes: Vec<String>,
    surroundings: &ProcessEnvironment,
    screen: &Screen,
) -> Parts {
    let ids: Arc<dyn IdSource> = Arc::new(OsIds);
    let zone = match settings.get("time.zone") {
        "system" => surroundings.system_zone(),
        name => jiff::tz::TimeZone::get(name).unwrap_or(jiff::tz::TimeZone::UTC), // checked when it was read
    };
    let Hooks { probe, wrap_store, timing, provider } = hooks(&zone, surroundings);
    let clock: Arc<dyn domain::Clock> = Arc::new(SystemClock);
    let host = Arc::new(OsHost::new(HostConfig {
        instance: paths.clone(),
        settings_source,
        clock: Arc::clone(&clock),
        ids: Arc::clone(&ids),
        probe: Arc::clone(&probe),
        database_url: settings.get("database.url").into(),
        wrap_store,
        tools_off: surroundings.variable("REGENT_TOOLS_OFF").unwrap_or_default().into(),
    }));
    let reporter = Box::new(ScreenReporter(screen.clone()));
    let models = Arc::new(ConfiguredModels::new(settings.clone(), surroundings.clone(), reporter));
    let model_admin =
        Arc::new(ConfiguredModelAdmin::new(settings.clone(), surroundings.clone(), Arc::clone(&clock)));
    Parts { paths, settings, mistakes, host, clock, ids, probe, zone, timing, provider, models, model_admin }
}

/// What a build for tests puts between the parts. In the product: nothing.
struct Hooks {
    probe: Arc<dyn Probe>,
    wrap_store: StoreWrapper,
    timing: Timing,
    provider: Arc<dyn llm::Provider>,
}

#[cfg(not(feature = "faults"))]
fn hooks(zone: &jiff::tz::TimeZone, _surroundings: &ProcessEnvironment) -> Hooks {
    let (probe, provider) = (Arc::new(domain::probe::Silent), Arc::new(llm::Reflex::new(zone.clone())));
    Hooks { probe, wrap_store: Box::new(|store| store), timing: Timing::default(), provider }
}

#[cfg(feature = "faults")]
fn hooks(zone: &jiff::tz::TimeZone, surroundings: &ProcessEnvironment) -> Hooks {
    faults::hooks(zone, surroundings)
}

/// Waits for somebody to stop the program; a terminal that goes away, Ctrl-\ and a polite kill count as Ctrl-C.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
    let [Ok(mut int), Ok(mut term), Ok(mut hup), Ok(mut quit)] = kinds.map(signal) else {
        return std::future::pending().await; // the default action of the signals still ends the program
    };
    tokio::select! { _ = int.recv() => {}, _ = term.recv() => {}, _ = hup.recv() => {}, _ = quit.recv() => {} }
}

/// The flag counts first, then `NO_COLOR`, then `CLICOLOR_FORCE`, then the setting.
fn color(global: &Global, setting: &str, surroundings: &ProcessEnvironment) -> Color {
    match (global.color, setting) {
        (Some(color), _) => color,
        (None, _) if surroundings.variable("NO_COLOR").is_some() => Color::Never,
        (None, _) if surroundings.variable("CLICOLOR_FORCE").is_some_and(|force| force != "0") => {
            Color::Always
        }
        (None, "always") => Color::Always,
        (None, "never") => Color::Never,
        (None, _) => Color::Auto,
    }
}

/// Help and version go to standard output; a mistake gets a code like any other.
fn usage(error: &clap::Error, surroundings: &ProcessEnvironment) -> u8 {
    let screen = Screen::new(false, Color::Never, false, surroundings);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match error.print() {
            Ok(()) => 0,
            Err(error) => report(&screen, OperationError::Output(error)),
        },
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            drop(error.print());
            Code::USAGE.exit()
        }
        _ => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            screen.note(&format!("error {}: {}", Code::USAGE, present::escape(text.trim_end())));
            Code::USAGE.exit()
        }
    }
}

fn report(screen: &Screen, trouble: OperationError) -> u8 {
    match trouble {
        OperationError::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => 0,
        OperationError::Output(error) => {
            let trouble = Problem::new(Code::OUTPUT, format!("standard output cannot be written: {error}"));
            screen.note_problem(&trouble);
            trouble.code.exit()
        }
        OperationError::Problem(trouble) => {
            tracing::error!(code = %trouble.code, "failed");
            tracing::debug!(what = %trouble.what, "failed");
            if screen.json {
                drop(screen.json_line(&serde_json::json!({ "problem": &*trouble })));
            }
            screen.note_problem(&trouble);
            trouble.code.exit()
        }
    }
}
