//! The words for what the solver measures, and for time and money: words before numbers.

use std::time::Duration;

use domain::gradient::{Macro, Params};

use super::RoundSummary;

/// What a direction is called on a screen.
#[must_use]
pub const fn describe_directive(directive: Macro) -> &'static str {
    match directive {
        Macro::Accept => "done",
        Macro::Success => "good enough",
        Macro::Abandon => "stopped",
        Macro::Refine => "same way, corrected",
        Macro::ChangePath => "same tools, elsewhere",
        Macro::ChangeApproach => "other tools",
        Macro::BreakSymmetry => "stuck, so something new",
    }
}

/// What a direction means for these steps.
#[must_use]
pub fn describe_replan(state: Macro, steps: &[u32]) -> String {
    let (which, one) = match steps {
        [] => return describe_directive(state).to_owned(),
        [one] => (format!("step {one}"), true),
        several => (format!("steps {}", join_numbers(several)), false),
    };
    let verb = |one_does: &'static str, many_do: &'static str| if one { one_does } else { many_do };
    match state {
        Macro::Refine => format!("{which} again, corrected"),
        Macro::ChangePath => format!("{which} {} elsewhere", verb("looks", "look")),
        Macro::ChangeApproach => format!("other tools for {which}"),
        Macro::BreakSymmetry => format!("stuck, so something new for {which}"),
        Macro::Accept | Macro::Success | Macro::Abandon => describe_directive(state).to_owned(),
    }
}

#[must_use]
pub fn join_numbers(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// P: whose fault it is, in words.
#[must_use]
pub fn describe_cause(round: &RoundSummary, params: &Params) -> &'static str {
    if round.loss.p > params.rho {
        "our plan"
    } else if round.why.is_empty() && round.loss.p == 0.0 {
        "unclear"
    } else {
        "outside"
    }
}

/// ∇L: where it goes, with what was unmet in each round.
#[must_use]
pub fn describe_trend(rounds: &[RoundSummary], params: &Params) -> String {
    let Some(last) = rounds.last() else { return String::new() };
    let word = match last.grad_l {
        _ if rounds.len() < 2 => return "first round".to_owned(),
        grad if grad < -params.epsilon => "better",
        grad if grad > params.epsilon => "worse",
        _ => "no change",
    };
    let shares: Vec<String> = rounds.iter().map(|round| to_percent(round.loss.d).to_string()).collect();
    format!("{word} ({}%)", shares.join(", "))
}

#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 100")]
pub fn to_percent(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * 100.0).round() as u32
}

/// Ten boxes, as many of them full as the share says. Only nothing is empty, only all is full.
#[must_use]
pub fn draw_bar(share: f64, symbols: bool) -> String {
    const BOXES: u32 = 10;
    let full = match (to_percent(share) + 5) / 10 {
        0 if share > 0.0 => 1,
        BOXES if share < 1.0 => BOXES - 1,
        full => full,
    };
    let (on, off) = if symbols { ("▪", "▫") } else { ("#", ".") };
    on.repeat(full as usize) + &off.repeat((BOXES - full.min(BOXES)) as usize)
}

/// How long something took: `0.2 s`, `39 s`, `1:03`.
#[must_use]
pub fn format_duration(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{:.1} s", time.as_secs_f64()),
        1..60 => format!("{} s", time.as_secs()),
        _ => format_clock(time),
    }
}

/// As a clock that runs: `0:52`, `1:03:20`.
#[must_use]
pub fn format_clock(time: Duration) -> String {
    let (hours, minutes, seconds) = (time.as_secs() / 3600, time.as_secs() / 60 % 60, time.as_secs() % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// Millionths of the house's currency, to the hundredth; what is less is not nothing.
#[must_use]
pub fn format_money(price: u64) -> String {
    let hundredths = (price + 5_000) / 10_000;
    if price > 0 && hundredths == 0 {
        return "under 0.01".to_owned();
    }
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// What a role does, by the name it is counted under.
#[must_use]
pub fn name_role(name: &str) -> &str {
    match name {
        "perceiver" => "understand",
        "planner" => "plan",
        "executor" => "work",
        "validator" => "check",
        "meta_validator" => "review",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::gradient::{Loss, Macro, Params};

    use super::{
        describe_cause, describe_directive, describe_replan, describe_trend, draw_bar, format_clock,
        format_duration, format_money, name_role,
    };
    use crate::progress::RoundSummary;

    fn round(d: f64, p: f64, grad_l: f64, why: &str) -> RoundSummary {
        let loss = Loss { d, p, ..Loss::default() };
        RoundSummary { loss, grad_l, directive: Macro::Refine, why: why.into() }
    }

    #[test]
    fn every_direction_has_a_word_of_its_own() {
        let words: std::collections::BTreeSet<&str> =
            Macro::ALL.into_iter().map(describe_directive).collect();
        assert_eq!(words.len(), Macro::ALL.len());
        let table = [
            (Macro::Refine, vec![3], "step 3 again, corrected"),
            (Macro::ChangePath, vec![3], "step 3 looks elsewhere"),
            (Macro::ChangePath, vec![3, 4], "steps 3, 4 look elsewhere"),
            (Macro::ChangeApproach, vec![3], "other tools for step 3"),
            (Macro::BreakSymmetry, vec![2], "stuck, so something new for step 2"),
            (Macro::ChangePath, vec![], "same tools, elsewhere"),
        ];
        for (state, steps, expected) in table {
            assert_eq!(describe_replan(state, &steps), expected);
        }
    }

    #[test]
    fn cause_and_trend_are_words() {
        let params = Params::default();
        let causes =
            [(0.6, "x", "our plan"), (0.5, "x", "outside"), (0.0, "x", "outside"), (0.0, "", "unclear")];
        for (p, why, expected) in causes {
            assert_eq!(describe_cause(&round(0.4, p, 0.0, why), &params), expected, "{p} {why}");
        }
        let first = round(0.44, 0.0, 0.0, "");
        let trends = [(-0.2, "better (44, 22%)"), (0.2, "worse (44, 22%)"), (0.1, "no change (44, 22%)")];
        assert_eq!(describe_trend(std::slice::from_ref(&first), &params), "first round");
        for (grad, expected) in trends {
            assert_eq!(describe_trend(&[first.clone(), round(0.22, 0.0, grad, "")], &params), expected);
        }
    }

    #[test]
    fn a_bar_is_empty_only_for_nothing_and_full_only_for_all() {
        let table = [(0.0, "▫▫▫▫▫▫▫▫▫▫"), (0.001, "▪▫▫▫▫▫▫▫▫▫"), (0.44, "▪▪▪▪▫▫▫▫▫▫"), (0.999, "▪▪▪▪▪▪▪▪▪▫")];
        for (share, expected) in table {
            assert_eq!(draw_bar(share, true), expected, "{share}");
        }
        assert_eq!((draw_bar(1.0, false), draw_bar(0.44, false)), ("##########".into(), "####......".into()));
        assert_eq!(draw_bar(7.0, false), "##########");
    }

    #[test]
    fn times_and_money_are_short() {
        let ms = Duration::from_millis;
        let times = [(0, "0.0 s"), (240, "0.2 s"), (6_900, "6 s"), (63_000, "1:03"), (3_723_000, "1:02:03")];
        for (time, expected) in times {
            assert_eq!(format_duration(ms(time)), expected);
        }
        assert_eq!((format_clock(ms(0)), format_clock(ms(52_000))), ("0:00".into(), "0:52".into()));
        let prices = [(0, "0.00"), (1, "under 0.01"), (40_000, "0.04"), (1_235_000, "1.24")];
        for (price, expected) in prices {
            assert_eq!(format_money(price), expected);
        }
        assert_eq!((name_role("perceiver"), name_role("somebody")), ("understand", "somebody"));
    }
}
