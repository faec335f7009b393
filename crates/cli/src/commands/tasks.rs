//! `tasks` and `why`.

use app::record::render_why;
use app::record::{Again, Difference, Line, Rechecked};
use app::tasks::{RoleCost, TaskLine, TaskView};
use app::{App, Code, Problem};
use domain::gradient::PlanDirective;
use domain::task::Status;

use super::Done;
use crate::args::Tasks;
use crate::show::{Screen, Tone, brief, inline, plural};

pub(crate) async fn tasks(app: &App, screen: &Screen, command: Tasks) -> Done {
    match command {
        Tasks::List { limit } => {
            let lines = app.tasks().list(limit).await?;
            if lines.is_empty() && limit > 0 && !screen.json {
                screen.note("nothing has run yet; try: regent run \"how many files are here?\"");
            }
            for line in &lines {
                if screen.json { screen.json_line(line)? } else { screen.line(&row(app, screen, line))? }
            }
        }
        Tasks::Follow { after } => follow(app, screen, after).await?,
        Tasks::Show { id } => {
            let view = app.tasks().show(&id).await?;
            if screen.json { screen.json_line(&view)? } else { screen.line(&page(app, screen, &view))? }
        }
    }
    Ok(0)
}

async fn follow(app: &App, screen: &Screen, after: Option<i64>) -> Result<(), super::OperationError> {
    let mut tap = app.tasks().tap(after).await?;
    loop {
        for tapped in tap.next().await? {
            if screen.json {
                screen.json_line(&tapped.line())?;
                continue;
            }
            let line = tapped.line();
            let when = line.at.map(|at| at.clock_time(app.zone())).unwrap_or_default();
            let short = app.short(tapped.task).await?;
            screen.line(&format!(
                "{:>8} {short:<8} {when} {}",
                line.seq,
                line.input.unwrap_or("(erased or unreadable)")
            ))?;
        }
        screen.flush()?;
    }
}

pub(crate) async fn why(app: &App, screen: &Screen, id: &str) -> Done {
    let why = app.record().why(id).await?;
    if screen.json {
        screen.json_line(&why)?
    } else {
        screen.line(&render_why(&why, id, &screen.style(app)))?
    }
    Ok(0)
}

pub(crate) async fn recheck(app: &App, screen: &Screen, id: &str) -> Done {
    let why = app.record().recheck(id).await?;
    let holds = why.recheck.as_ref().is_some_and(|recheck| recheck.holds);
    if screen.json {
        screen.json_line(&why)?;
        return Ok(if holds { 0 } else { Code::RECHECK_DIFFERS.exit() });
    }
    screen.line(&render_why(&why, id, &screen.style(app)))?;
    let Some(recheck) = &why.recheck else { return Ok(0) };
    screen.line("recheck")?;
    for line in &recheck.lines {
        screen.line(&found(app, screen, line).await?)?;
    }
    summary(screen, recheck)?;
    if holds {
        return Ok(0);
    }
    let count = recheck.count(Again::is_held_against);
    let what = format!(
        "{} from what was recorded, although the rules are the same",
        plural(count as u64, "thing differs", "things differ")
    );
    Err(Problem::new(Code::RECHECK_DIFFERS, what)
        .safe("nothing was changed; a copy of the data folder is the evidence")
        .remedy("regent audit verify")
        .into())
}

async fn found(app: &App, screen: &Screen, line: &Line) -> Result<String, Problem> {
    let tool = line.tool.as_deref().map_or_else(String::new, |tool| format!(" {tool}"));
    let thing = format!("{} {}{tool}", line.what, app.short(&line.id).await?);
    let differs = |Difference { field, then, now }: &Difference| {
        format!("{}: then {}, now {}", inline(field), brief(then, MOST), brief(now, MOST))
    };
    let (text, tone) = match &line.again {
        Again::Same => ("same".into(), Tone::Good),
        Again::Differs(difference) => (format!("DIFFERS: {}", differs(difference)), Tone::Bad),
        Again::Erased => ("erased: cannot be computed again".into(), Tone::Attention),
        Again::Unkept => {
            ("was recorded before inputs were kept; cannot be computed again".into(), Tone::Attention)
        }
        Again::OtherRules { rules_then, rules_now, differs: difference } => {
            let then = rules_then.map_or_else(|| "not kept".into(), |rules| rules.to_string());
            let found = difference
                .as_ref()
                .map_or_else(|| "same".into(), |difference| format!("differs: {}", differs(difference)));
            (format!("other rules then ({then}), now ({rules_now}): {found}"), Tone::Attention)
        }
    };
    Ok(format!("  {thing:<LEFT$} {}", screen.tinted(&text, tone)))
}

pub(crate) async fn cancel(app: &App, screen: &Screen, id: &str) -> Done {
    let report = Box::pin(app.tasks().cancel(id)).await?;
    if screen.json {
        screen.json_line(&report)?;
        return Ok(0);
    }
    let there = report.result.as_ref().is_some_and(|result| !result.text.is_empty());
    screen.line(&format!(
        "{} cancelled{}",
        report.short,
        if there { "; a part of the result is there" } else { "" }
    ))?;
    let undo = if report.can_undo > 0 { format!("    regent undo {}", report.short) } else { String::new() };
    let commands = format!("regent tasks show {}{undo}", report.short);
    screen.note(&format!("  {}", screen.note_tinted(&commands, Tone::Command)));
    Ok(0)
}

pub(crate) async fn replay(app: &App, screen: &Screen, id: &str, recording: bool) -> Done {
    if recording {
        screen.result(app.record().recording(id).await?.trim_end())?;
        screen.flush()?;
        return Ok(0);
    }
    let played = app.record().replay(id).await?;
    let exit = if played.identical || played.other_rules.is_some() { 0 } else { Code::REPLAY_DIFFERS.exit() };
    if screen.json {
        screen.json_line(&played)?;
        return Ok(exit);
    }
    for step in &played.steps {
        let said: Vec<&str> = step.messages.iter().map(|message| message.kind.as_str()).collect();
        let mark = if step.identical { "" } else { "  DIFFERS" };
        let then = [said.join(", "), step.effects.join(", ")].into_iter().filter(|part| !part.is_empty());
        let then = then.collect::<Vec<_>>().join(" → ");
        screen.line(&format!(
            "{:>5} {:<12} {}{}",
            step.n,
            step.input,
            brief(&then, MOST),
            screen.tinted(mark, Tone::Bad)
        ))?;
    }
    let steps = plural(played.steps.len() as u64, "step", "steps");
    match (played.identical, played.other_rules) {
        (true, _) => screen.line(&screen.tinted(&format!("{steps}, all identical"), Tone::Good))?,
        (false, Some(rules)) => {
            let text = format!("{steps}, taken by other rules ({rules}): they differ, and may");
            screen.line(&screen.tinted(&text, Tone::Attention))?;
        }
        (false, None) => {
            let differ = played.steps.iter().filter(|step| !step.identical).count() as u64;
            let what = format!(
                "{} from what was recorded, although the rules are the same",
                plural(differ, "step differs", "steps differ")
            );
            return Err(Problem::new(Code::REPLAY_DIFFERS, what)
                .safe("nothing was changed; a copy of the data folder is the evidence")
                .remedy("regent audit verify")
                .into());
        }
    }
    Ok(exit)
}

/// Where a finding begins, and how much of what was found is shown.
const LEFT: usize = 28;
const MOST: usize = 110;

fn summary(screen: &Screen, recheck: &Rechecked) -> std::io::Result<()> {
    let count = |which: fn(&Again) -> bool| recheck.count(which) as u64;
    let mut text = format!("recheck: {} the same", count(|again| *again == Again::Same));
    let others = [
        (count(Again::is_held_against), "DIFFERS", "DIFFER"),
        (count(|again| matches!(again, Again::OtherRules { .. })), "under other rules", "under other rules"),
        (count(|again| *again == Again::Erased), "erased", "erased"),
        (count(|again| *again == Again::Unkept), "without its inputs", "without their inputs"),
    ];
    for (count, one, many) in others.iter().filter(|(count, ..)| *count > 0) {
        text.push_str(&format!(", {}", plural(*count, one, many)));
    }
    screen.line(&screen.tinted(&text, if recheck.holds { Tone::Good } else { Tone::Bad }))
}

pub(super) fn row(app: &App, screen: &Screen, line: &TaskLine) -> String {
    let (word, tone) = match line.status {
        Status::Queued => ("not begun", Tone::Attention),
        Status::Running => ("unfinished", Tone::Attention),
        Status::Waiting => ("waits", Tone::Attention),
        Status::Done => ("done", Tone::Good),
        Status::Stopped => ("stopped", Tone::Bad),
    };
    let request = line.said.as_deref().map_or_else(|| "(erased)".into(), |text| brief(text, 50));
    let when = line.created_at.date_time(app.zone());
    format!("{:<8} {} {:<51} {when}", line.short, screen.tinted(&format!("{word:<10}"), tone), request)
}

fn page(app: &App, screen: &Screen, view: &TaskView) -> String {
    let mut text = row(app, screen, &view.line);
    let mut add = |label: &str, value: &str| text.push_str(&format!("\n  {label:<9} {value}"));
    for (i, intent) in view.plan.iter().enumerate() {
        add(if i == 0 { "plan" } else { "" }, &format!("{} {}", i + 1, inline(intent)));
    }
    for (i, call) in view.calls.iter().enumerate() {
        let took = call.duration_ms.map_or_else(String::new, |ms| format!("{ms} ms"));
        let status = call.status.name();
        add(
            if i == 0 { "calls" } else { "" },
            &format!("{:<8} {:<12} {status:<9} {took}", call.short, call.tool),
        );
    }
    for (i, round) in view.rounds.iter().enumerate() {
        let PlanDirective { loss, directive, grad_l, rationale, .. } = round;
        let label = if i == 0 { "rounds" } else { "" };
        let numbers = format!(
            "D {:.2}  P {:.2}  Ω {:.2}  L {:.3}  ∇L {grad_l:+.3}",
            loss.d, loss.p, loss.omega, loss.l
        );
        add(label, &format!("{} {numbers}  {directive}", i + 1));
        add("", &format!("  {}", inline(rationale)));
    }
    for (i, cost) in view.cost.iter().enumerate() {
        let RoleCost { role, asks, tokens_in, tokens_out, .. } = cost;
        let (role, asks) = (role.replace('_', "-"), plural(*asks, "ask", "asks"));
        let line = format!("{role:<14} {asks}, {tokens_in} tokens in, {tokens_out} out");
        add(if i == 0 { "cost" } else { "" }, &line);
    }
    if let Some(question) = &view.question {
        add("asks", &inline(question));
    }
    if let Some(result) = &view.result {
        for (i, verdict) in result.verdicts.iter().enumerate() {
            let word = verdict.name();
            add(
                if i == 0 { "checks" } else { "" },
                &format!("{word:<10} {} ({})", inline(&verdict.criterion), inline(&verdict.evidence)),
            );
        }
        if let Some(reason) = &result.reason {
            add("reason", &inline(reason));
        }
        for (label, lines) in [("tried", &result.tried), ("next", &result.next)] {
            for (i, line) in lines.iter().enumerate() {
                add(if i == 0 { label } else { "" }, &inline(line));
            }
        }
        for (i, line) in result.text.lines().enumerate() {
            add(if i == 0 { "result" } else { "" }, &inline(line));
        }
    }
    if view.erased {
        add("result", "(erased)");
    }
    if let Some(why) = &view.unreadable {
        add("damaged", &format!("{}; what follows from it is not shown", inline(why)));
    }
    let journal: Vec<&str> = view.journal.iter().map(|step| step.input).collect();
    add("journal", &journal.join(", "));
    text
}
