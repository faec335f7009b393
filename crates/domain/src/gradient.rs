//! The words of the Goal Gradient Solver: how far a task is from done, and what is to be done about it. The
//! mathematics is `engine::ggs`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What `prev_directive` says before there was one.
pub const INIT: &str = "init";

/// What the solver says after a round: a macro-state of the decision table, or that everything is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Macro {
    /// Nothing failed.
    Accept,
    /// Close enough; what is unmet is listed.
    Success,
    /// The budget is used up, or it gets worse and worse.
    Abandon,
    /// It moves, and the world is in the way: the same approach, with tighter parameters.
    Refine,
    /// It is stuck, and the world is in the way: the same approach on another target.
    ChangePath,
    /// It moves, and the approach is wrong: another method.
    ChangeApproach,
    /// It is stuck, and the approach is wrong: another kind of tool.
    BreakSymmetry,
}

impl Macro {
    pub const ALL: [Self; 7] = [
        Self::Accept,
        Self::Success,
        Self::Abandon,
        Self::Refine,
        Self::ChangePath,
        Self::ChangeApproach,
        Self::BreakSymmetry,
    ];

    /// Whether the task is over with it.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Accept | Self::Success | Self::Abandon)
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Success => "success",
            Self::Abandon => "abandon",
            Self::Refine => "refine",
            Self::ChangePath => "change_path",
            Self::ChangeApproach => "change_approach",
            Self::BreakSymmetry => "break_symmetry",
        }
    }
}

impl fmt::Display for Macro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One round, measured. Written as the seed's contract writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// How much of what was wanted is missing, 0 to 1.
    #[serde(rename = "D")]
    pub d: f64,
    /// How wrong the approach is, apart from its result, 0 to 1.
    #[serde(rename = "P")]
    pub p: f64,
    /// How much of the budget is used, 0 to 1.
    #[serde(rename = "Omega")]
    pub omega: f64,
    /// The three of them, weighed.
    #[serde(rename = "L")]
    pub l: f64,
}

/// What the failures of a round have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    Logical,
    Environmental,
    Mixed,
}

impl Blame {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Logical => "logical",
            Self::Environmental => "environmental",
            Self::Mixed => "mixed",
        }
    }
}

/// What the planner is told for its next plan. Whose task it is, the task knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanDirective {
    pub loss: Loss,
    /// [`INIT`] in the first round.
    pub prev_directive: String,
    pub directive: Macro,
    pub blocked_tools: Vec<String>,
    /// Of all rounds so far.
    pub blocked_targets: Vec<String>,
    pub failed_criterion: String,
    pub failure_class: Blame,
    /// Ω again, under the contract's name.
    pub budget_pressure: f64,
    pub grad_l: f64,
    pub grad_gap: f64,
    pub rationale: String,
}

/// The hyper-parameters of the solver. What is not given is the seed's default.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    /// α: the weight of D.
    pub alpha: f64,
    /// β: the weight of P, as long as nothing of the budget is used.
    pub beta: f64,
    /// λ: the weight of Ω.
    pub lambda: f64,
    /// w₁: the part of Ω that replans make.
    pub replan_weight: f64,
    /// w₂: the part of Ω that time makes.
    pub time_weight: f64,
    /// ε: a gradient below it is no signal.
    pub epsilon: f64,
    /// δ: a D up to it is close enough.
    pub delta: f64,
    /// ρ: above it the approach is to blame.
    pub rho: f64,
    /// θ: from it on the budget is used up.
    pub theta: f64,
    pub time_budget_ms: u64,
    pub max_replans: u32,
    /// Worsening rounds in a row after which Law 2 ends a task.
    pub worsening_rounds: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            alpha: 0.6,
            beta: 0.3,
            lambda: 0.4,
            replan_weight: 0.6,
            time_weight: 0.4,
            epsilon: 0.1,
            delta: 0.3,
            rho: 0.5,
            theta: 0.8,
            time_budget_ms: 300_000,
            max_replans: 3,
            worsening_rounds: 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Blame, INIT, Loss, Macro, Params, PlanDirective};
    use serde_json::json;

    #[test]
    fn the_defaults_are_those_of_the_seed() {
        let table = json!({
            "alpha": 0.6, "beta": 0.3, "lambda": 0.4, "replan_weight": 0.6, "time_weight": 0.4, "epsilon": 0.1,
            "delta": 0.3, "rho": 0.5, "theta": 0.8, "time_budget_ms": 300_000, "max_replans": 3, "worsening_rounds": 2,
        });
        assert_eq!(serde_json::to_value(Params::default()).expect("JSON"), table);
    }

    #[test]
    fn a_parameter_that_is_given_leaves_the_others_as_they_are() {
        let read: Params = serde_json::from_value(json!({ "theta": 0.9 })).expect("parameters");
        assert_eq!(read, Params { theta: 0.9, ..Params::default() });
    }

    #[test]
    fn a_state_is_written_as_it_is_called_and_three_of_them_are_final() {
        for state in Macro::ALL {
            assert_eq!(serde_json::to_value(state).expect("JSON"), json!(state.to_string()));
        }
        let last: Vec<&str> =
            Macro::ALL.into_iter().filter(|state| state.is_final()).map(Macro::name).collect();
        assert_eq!(last, ["accept", "success", "abandon"]);
        for blame in [Blame::Logical, Blame::Environmental, Blame::Mixed] {
            assert_eq!(serde_json::to_value(blame).expect("JSON"), json!(blame.name()));
        }
    }

    #[test]
    fn a_directive_reads_like_the_contract() {
        let directive = PlanDirective {
            loss: Loss { d: 0.5, p: 1.0, omega: 0.25, l: 0.625 },
            prev_directive: INIT.to_owned(),
            directive: Macro::BreakSymmetry,
            blocked_tools: vec!["glob".to_owned()],
            blocked_targets: Vec::new(),
            failed_criterion: "a file was found".to_owned(),
            failure_class: Blame::Logical,
            budget_pressure: 0.25,
            grad_l: 0.0,
            grad_gap: 0.0,
            rationale: "stuck".to_owned(),
        };
        let written = json!({
            "loss": { "D": 0.5, "P": 1.0, "Omega": 0.25, "L": 0.625 },
            "prev_directive": "init", "directive": "break_symmetry", "blocked_tools": ["glob"], "blocked_targets": [],
            "failed_criterion": "a file was found", "failure_class": "logical", "budget_pressure": 0.25,
            "grad_l": 0.0, "grad_gap": 0.0, "rationale": "stuck",
        });
        assert_eq!(serde_json::to_value(&directive).expect("JSON"), written);
        assert_eq!(serde_json::from_value::<PlanDirective>(written).expect("a directive"), directive);
    }
}
