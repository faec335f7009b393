//! Greetings, thanks, and who is asked: answered directly, without a task.

use super::token::Token;

const NAME: &str = "I am Regent, a runtime for agents. Without a model I answer everyday questions about the files and tables \
                    of this folder, and copy, rename or delete them when you say so.";
const HELP: &str = "Without a model: count, list, rank, search and read files, sum up columns of CSV and JSON, copy, rename \
                    and delete (I ask first), arithmetic and dates. `regent help reflex` shows how to say it.";

const TABLE: &[(&[&str], &str)] = &[
    (
        &[
            "hello",
            "hi",
            "hey",
            "hello there",
            "hi there",
            "hey there",
            "hello regent",
            "hi regent",
            "hey regent",
            "good morning",
            "good afternoon",
            "good evening",
            "good day",
            "good morning regent",
            "greetings",
            "howdy",
        ],
        "Hello! What shall I do?",
    ),
    (
        &[
            "who are you",
            "what are you",
            "what is your name",
            "who is this",
            "introduce yourself",
            "tell me who you are",
            "what is regent",
            "who is regent",
            "tell me about yourself",
            "please introduce yourself",
            "may i ask who you are",
            "what's your name",
            "who am i talking to",
            "are you regent",
            "can you tell me who you are",
            "could you tell me who you are",
            "so who are you",
            "your name",
            "what do they call you",
            "how are you called",
            "hello who are you",
            "hi who are you",
            "whoami",
        ],
        NAME,
    ),
    (
        &[
            "what can you do",
            "what do you do",
            "help",
            "help me",
            "how can you help me",
            "what are you able to do",
            "what can i ask",
            "what can i ask you",
            "how do you work",
            "what can you do for me",
            "what are your capabilities",
            "what are you capable of",
            "what kind of things can you do",
            "what do you know",
            "what could you do for me",
            "please tell me what you can do",
            "tell me what you can do",
            "how may you help me",
            "what can you help me with",
            "can you help me",
            "can you tell me what you can do",
        ],
        HELP,
    ),
    (
        &[
            "thanks",
            "thank you",
            "thanks a lot",
            "thank you very much",
            "many thanks",
            "thank you so much",
            "thanks so much",
            "cheers",
            "great thanks",
            "thank you regent",
            "thanks regent",
            "that was helpful thanks",
            "perfect thank you",
            "perfect thanks",
            "thanks very much",
            "thank you for your help",
            "thanks for your help",
            "great thank you",
            "ok thanks",
            "ok thank you",
            "okay thanks",
        ],
        "You are welcome.",
    ),
    (&["bye", "goodbye", "good bye", "see you", "see you later", "good night"], "Goodbye."),
    (
        &[
            "how are you",
            "how are you doing",
            "how do you do",
            "how is it going",
            "how's it going",
            "hello how are you",
            "hi how are you",
            "are you there",
            "are you ok",
            "how are you today",
        ],
        "Ready to work, thank you. What shall I do?",
    ),
];

pub(super) fn reply(tokens: &[Token]) -> Option<&'static str> {
    let mut said = Vec::new();
    for token in tokens {
        match token {
            Token::Word { lower, .. } => said.push(lower.as_str()),
            Token::Mark(_) => {}
            Token::Quoted(_) => return None,
        }
    }
    let said = said.join(" ");
    TABLE.iter().find(|(phrases, _)| phrases.contains(&said.as_str())).map(|(_, reply)| *reply)
}
