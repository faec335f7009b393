mod prompts;
mod properties;
mod replies;
mod rubbish;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use domain::ask::{Ask, Unanswered, Usage};

use super::{StandingInstructions, Worded, samples};
use crate::model::{Completing, Completion, Listen, Model, Prompt};
use crate::{Answer, Heard, Provider as _};

/// A model that says what it was told to say, whatever it is asked.
pub(super) struct Parrot(Result<String, Unanswered>);

impl Model for Parrot {
    fn name(&self) -> String {
        "parrot".into()
    }

    fn complete(&self, prompt: Prompt, _listen: Listen) -> Completing {
        let said = self.0.clone();
        Box::pin(async move {
            let tokens_in = u64::try_from(prompt.user.len()).unwrap();
            let usage = Usage { model: "parrot-1".into(), tokens_in, ..Usage::default() };
            said.map(|text| Completion { text, usage, ..Completion::default() }).map_err(Into::into)
        })
    }
}

pub(super) fn worded(said: Result<String, Unanswered>) -> Worded {
    Worded::new(Arc::new(Parrot(said)), samples::tools(), Box::new(|now| format!("{now} (UTC)")))
}

/// What comes of an ask that nobody has to wait for.
fn heard(worded: &Worded, ask: &Ask) -> Heard {
    let Answer::Later(later) = worded.ask(ask) else { panic!("a model is asked, always") };
    match pin!(later).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(heard) => heard,
        Poll::Pending => panic!("a parrot does not think"),
    }
}

#[test]
fn what_the_model_cost_is_handed_on_even_if_its_words_cannot_be_used() {
    let (_, ask) = samples::all().remove(0);
    let model = worded(Ok("I would rather not.".into()));
    let tokens_in = u64::try_from(model.prompt(&ask).user.len()).unwrap();
    let Heard { reply, usage } = heard(&model, &ask);
    let why = "the reply holds no JSON object; wanted is one JSON object with `task`, `answer` or `question`";
    assert_eq!(reply, Err(Unanswered::unusable(why)));
    assert_eq!(usage, Usage { model: "parrot-1".into(), tokens_in, ..Usage::default() });
    assert!(model.knows_another_way());
}

#[test]
fn standing_instructions_end_every_system_prompt_from_the_moment_they_are_set() {
    let instructions = StandingInstructions::default();
    let model = worded(Ok(String::new())).with_instructions(instructions.clone());
    let systems = |model: &Worded| -> Vec<String> {
        let prompts = samples::all().into_iter().map(|(_, ask)| model.prompt(&ask));
        prompts
            .flat_map(|prompt| [Some(prompt.system), prompt.calling.map(|calling| calling.system)])
            .flatten()
            .collect()
    };
    let before = systems(&model);
    assert!(before.iter().all(|system| !system.contains("Standing instructions")));
    instructions.set(vec!["write British English".into(), "ask before\nyou delete".into()]);
    let section = "\n## Standing instructions of the owner\n\nThey hold for every task:\n- write British English\n- ask before\n  you delete\n";
    let after: Vec<String> = before.iter().map(|system| format!("{system}{section}")).collect();
    assert_eq!(systems(&model), after);
    instructions.set(Vec::new());
    assert_eq!(systems(&model), before);
}

#[test]
fn a_model_that_cannot_be_reached_is_that() {
    let (_, ask) = samples::all().remove(0);
    let gone = Unanswered::unreachable("no route to host");
    let Heard { reply, usage } = heard(&worded(Err(gone.clone())), &ask);
    assert_eq!((reply, usage.model.as_str()), (Err(gone), "parrot"));
}
