//! The house: `status`, `doctor`, `paths`, `config`, `init`, `tick`, `explain`, `completions`.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use app::AdmissionCounts;
use app::instance::Explained;
use app::record::AuditReport;
use app::record::render_why;
use app::tasks::TaskLine;
use app::{App, Code, FindingState, JobState, Problem};
use domain::task::Status;
use host::ProcessEnvironment;

use super::Done;
use crate::args::Config;
use crate::show::{self, Screen, Tone, inline, plural};
use app::operation::{Caller, Offer};

pub(crate) async fn status(app: &App, screen: &Screen) -> Done {
    let status = app.instance().status().await?;
    if screen.json {
        screen.json_line(&status)?;
        return Ok(0);
    }
    let attention = screen.tinted("!", Tone::Attention);
    if let Some(since) = status.halted {
        let command = screen.tinted("regent resume-all", Tone::Command);
        screen.line(&format!("{attention} halted   since {}   {command}", since.date_time(app.zone())))?;
    }
    if let Some(first) = status.first_expires {
        let open = plural(status.questions, "approval", "approvals");
        let left = first.since(app.now());
        let left = if left.is_zero() { "now".to_owned() } else { format!("in {}", show::span(left)) };
        let command = screen.tinted("regent approvals list", Tone::Command);
        screen.line(&format!("{attention} you      {open} open, the first expires {left}   {command}"))?;
    }
    if status.wanting_in > 0 {
        let senders = plural(status.wanting_in, "sender wants in", "senders want in");
        let command = screen.tinted("regent approvals list", Tone::Command);
        screen.line(&format!("{attention} you      {senders}   {command}"))?;
    }
    for task in &status.unfinished {
        screen.line(&format!("{attention} {}", task.row(&screen.style(app))))?;
        screen.line(&format!(
            "           {}",
            screen.tinted(&format!("regent resume {}", task.short), Tone::Command)
        ))?;
    }
    for warning in &status.warnings {
        screen.line(&format!(
            "{attention} house    {}   {}",
            inline(warning),
            screen.tinted("regent doctor", Tone::Command)
        ))?;
    }
    let halted = if status.halted.is_some() { "halted" } else { "not halted" };
    screen.line(&format!("  now      {}; {halted}", now(&status.unfinished)))?;
    screen.line(&format!(
        "  today    {}, {} stopped",
        plural(status.today, "task", "tasks"),
        status.stopped_today
    ))?;
    screen.line(&format!("  audit    {}", audit(&status.audit, app.now())))?;
    Ok(0)
}

/// `2 begun, 1 waiting for you, 3 queued`.
fn now(unfinished: &[TaskLine]) -> String {
    let count = |which: Status| unfinished.iter().filter(|line| line.status == which).count();
    let groups = [
        (count(Status::Running), "begun"),
        (count(Status::Waiting), "waiting for you"),
        (count(Status::Queued), "queued"),
    ];
    let groups = groups.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let groups: Vec<String> = groups.collect();
    if groups.is_empty() { "nothing unfinished".to_owned() } else { groups.join(", ") }
}

fn audit(report: &AuditReport, now: domain::Time) -> String {
    if !report.is_sound() {
        return format!("BROKEN, {}   regent audit verify", plural(report.entries, "entry", "entries"));
    }
    let signed = report.last_checkpoint.map_or_else(
        || "no checkpoint yet".to_owned(),
        |at| format!("last checkpoint {} ago", show::span(now.since(at))),
    );
    format!("{} to {}, {signed}", report.verdict, report.entries)
}

pub(crate) async fn doctor(app: &App, screen: &Screen, surroundings: &ProcessEnvironment) -> Done {
    let mut diagnosis = app.instance().doctor().await;
    // Where the settings are wrong nobody knows which model is meant.
    if !diagnosis
        .findings
        .iter()
        .any(|finding| finding.name == "settings" && finding.state == FindingState::Bad)
    {
        diagnosis.findings.extend(host::model_selection::diagnose_models(app.settings(), surroundings).await);
        diagnosis.healthy = diagnosis.findings.iter().all(|finding| finding.state != FindingState::Bad);
    }
    if screen.json {
        screen.json_line(&diagnosis)?;
        return Ok(if diagnosis.healthy { 0 } else { Code::UNHEALTHY.exit() });
    }
    for finding in &diagnosis.findings {
        let (word, tone) = match finding.state {
            FindingState::Ok => ("ok", Tone::Good),
            FindingState::Warn => ("note", Tone::Attention),
            FindingState::Bad => ("BAD", Tone::Bad),
        };
        screen.line(&format!(
            "{} {:<10} {}",
            screen.tinted(&format!("{word:<5}"), tone),
            finding.name,
            inline(&finding.what)
        ))?;
        if let Some(remedy) = &finding.remedy {
            screen.line(&format!("                 {}", screen.tinted(&inline(remedy), Tone::Command)))?;
        }
    }
    if diagnosis.healthy {
        Ok(0)
    } else {
        Err(Problem::new(Code::UNHEALTHY, "something needs you, see above").into())
    }
}

pub(crate) fn paths(app: &App, screen: &Screen) -> Done {
    let paths = app.instance().paths();
    if screen.json {
        screen.json_line(&paths)?;
        return Ok(0);
    }
    for (name, path) in [
        ("settings", &paths.settings),
        ("data", &paths.data),
        ("database", &paths.database),
        ("keys", &paths.keys),
    ] {
        screen.line(&format!("{name:<10} {}", inline(path)))?;
    }
    let elsewhere = match paths.database.split_once("://") {
        Some(_) => "drop the schema `brainframe` of that database",
        None => "there is nothing elsewhere",
    };
    screen.note(&format!("to remove everything, delete the folders of settings and data; {elsewhere}"));
    Ok(0)
}

pub(crate) fn config(app: &App, screen: &Screen, command: &Config) -> Done {
    let Config::Show { origin } = command;
    if screen.json {
        screen.json_line(app.settings())?;
        return Ok(0);
    }
    for (name, setting) in app.settings().all() {
        let value = format!("{:?}", setting.value);
        let origin = if *origin {
            format!("   {}", screen.tinted(&inline(&setting.origin), Tone::Faint))
        } else {
            String::new()
        };
        screen.line(&format!("{name:<17} {value:<16}{origin}"))?;
    }
    Ok(0)
}

pub(crate) async fn tick(app: &App, screen: &Screen) -> Done {
    super::acl::warn(app, screen).await;
    let admitted = app.events().admit_waiting().await?;
    if screen.json {
        screen.json_line(&serde_json::json!({ "admitted": admitted }))?;
    } else if admitted.all() > 0 {
        let AdmissionCounts { allowed, denied, held, .. } = admitted;
        screen.line(&format!(
            "{:<10} {allowed} let in, {denied} not, {held} held until you answer",
            "events"
        ))?;
    }
    if !screen.json && admitted.held + admitted.asked > 0 {
        screen.note(&screen.note_tinted("regent approvals list", Tone::Command));
    }
    let lines = app.instance().tick().await?;
    let mut failed = None;
    for line in &lines {
        if let JobState::Failed { why, .. } = &line.state {
            failed = Some(format!("{}: {why}", line.duty));
        }
        if screen.json {
            screen.json_line(line)?;
            continue;
        }
        let state = match &line.state {
            JobState::Done { next_due } => format!("done, next {}", next_due.date_time(app.zone())),
            JobState::Failed { next_due, .. } => format!("failed, next {}", next_due.date_time(app.zone())),
            JobState::Waits { next_due } => format!("not due before {}", next_due.date_time(app.zone())),
            JobState::Elsewhere => "another process is at it".into(),
            JobState::Idle => "nothing to do".into(),
        };
        screen.line(&format!("{:<10} {state}", line.duty))?;
    }
    match failed {
        Some(what) => Err(Problem::new(Code::DUTY, what).remedy("regent doctor").into()),
        None => Ok(0),
    }
}

/// One question at the most: how the owner wants to be called. Model and channels are not there yet.
pub(crate) async fn init(app: &App, screen: &Screen, yes: bool) -> Done {
    let asks = !yes && !app.instance().exists() && io::stdin().is_terminal() && io::stderr().is_terminal();
    let name = if asks { Some(ask("What may I call you? (Enter: your user name)").await?) } else { None };
    let furnished = app.instance().init(name.as_deref().unwrap_or_default()).await?;
    if screen.json {
        screen.json_line(&furnished)?;
        return Ok(0);
    }
    for made in &furnished.made {
        screen.line(&format!("made {}", inline(made)))?;
    }
    if let Some(root) = furnished.root.filter(|_| !screen.is_watched()) {
        screen.note(&format!("the root of the audit, to be kept elsewhere: {root}"));
    }
    if furnished.made.is_empty() {
        screen.line("the house was complete, nothing was changed")?;
    }
    screen.note(&format!(
        "try: {}",
        screen.note_tinted("regent run \"how many files are here?\"", Tone::Command)
    ));
    Ok(0)
}

pub(super) async fn ask(question: &str) -> io::Result<String> {
    write!(io::stderr().lock(), "{question} ")?;
    io::stderr().lock().flush()?;
    let line = host::run_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    Ok(line.await?.trim().to_owned())
}

pub(crate) async fn explain(app: &App, screen: &Screen, what: &str) -> Done {
    let explained = app.instance().explain(what).await?;
    match &explained {
        _ if screen.json => screen.json_line(&explained)?,
        Explained::Code { page, .. } => screen.line(page)?,
        Explained::Decision(why) => screen.line(&render_why(why, what, &screen.style(app)))?,
    }
    Ok(0)
}

pub(crate) fn completions(shell: clap_complete::Shell) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut crate::command_line(&Offer::to(Caller::Owner)),
        "regent",
        &mut script,
    );
    io::stdout().lock().write_all(&script)?;
    Ok(0)
}

/// The grammar of the reflexes, or what `--help` says of a command.
pub(crate) fn help(screen: &Screen, topic: &[String]) -> Done {
    if topic == ["reflex"] {
        screen.result(llm::GRAMMAR.trim_end())?;
        return Ok(0);
    }
    let mut command = crate::command_line(&Offer::to(Caller::Owner));
    command.build();
    for word in topic {
        let unknown = || {
            Problem::new(Code::USAGE, format!("there is no command `{}`", inline(&topic.join(" "))))
                .remedy("regent --help")
        };
        command = command.find_subcommand(word).cloned().ok_or_else(unknown)?;
    }
    screen.result(command.render_long_help().to_string().trim_end())?;
    Ok(0)
}
