//! The tokenizer of a checkpoint, and text from tokens as they come.
//!
//! Tokens are not characters: the bytes of one character may be spread over several of them. [`Streaming`] gives out text
//! only when its last character is whole, and all pieces together are the text of all tokens together.

use std::path::Path;

use tokenizers::Tokenizer;

use super::config::Config;
use super::failure::{Refused, name_of};

/// Stands for bytes that are no character, or none yet.
const UNFINISHED: char = char::REPLACEMENT_CHARACTER;

/// The tokenizer, held against the model that it shall be for.
pub struct Text {
    tokenizer: Tokenizer,
}

impl Text {
    /// Reads tokenizer.json of a folder.
    ///
    /// # Errors
    ///
    /// - It cannot be read, or has tokens that the model has no vectors for.
    pub fn read(folder: &Path, config: &Config) -> Result<Text, Refused> {
        let place = folder.join("tokenizer.json");
        let bytes = std::fs::read(&place).map_err(|error| {
            let help = "sentencepiece's tokenizer.model is not read: save the tokenizer as tokenizer.json";
            Refused::unreadable(&place, &error, help)
        })?;
        let tokenizer = Tokenizer::from_bytes(&bytes).map_err(|error| {
            let what = format!("{} is no tokenizer: {error}", name_of(&place));
            Refused::new("tokenizer", &place, what, "the file may be cut off: copy or download it again")
        })?;
        let last = tokenizer.get_vocab(true).into_iter().max_by_key(|(_, number)| *number);
        if let Some((token, number)) = last.filter(|&(_, number)| number as usize >= config.vocabulary) {
            let (token, vocabulary) = (serde_json::Value::from(token), config.vocabulary);
            let what = format!("token {number}, {token}, has no vector: `vocab_size` in config.json is {vocabulary}");
            let help = "tokenizer.json and config.json must be of one checkpoint: copy or download them again";
            return Err(Refused::new("tokenizer", &place, what, help));
        }
        Ok(Text { tokenizer })
    }

    /// The tokens of a prompt, with what the tokenizer itself puts around it.
    ///
    /// # Errors
    ///
    /// - There are none; or more than the model has positions for, together with those that shall come.
    pub fn encode(&self, prompt: &str, new: usize, config: &Config) -> Result<Vec<u32>, Refused> {
        let encoded = self.tokenizer.encode(prompt, true).map_err(|error| {
            let what = format!("the tokenizer cannot encode the prompt: {error}");
            Refused::asked("prompt", what, "try another prompt")
        })?;
        let (tokens, most) = (encoded.get_ids().to_vec(), config.positions_max);
        if tokens.is_empty() {
            return Err(Refused::asked("prompt", "the prompt has no tokens", "give a text with --prompt"));
        }
        if tokens.len() > most {
            let what = format!("the prompt has {} tokens, and the model {most} positions", tokens.len());
            return Err(Refused::asked("prompt", what, "`max_position_embeddings` in config.json: shorten the prompt"));
        }
        // The last token that is chosen needs no position.
        if tokens.len() + new > most + 1 {
            let (given, room) = (tokens.len(), most + 1 - tokens.len());
            let what =
                format!("{given} tokens of the prompt and {new} new ones need more than the model's {most} positions");
            return Err(Refused::asked("prompt", what, format!("--tokens {room} is the most")));
        }
        Ok(tokens)
    }

    /// The text of tokens, without special ones.
    ///
    /// # Errors
    ///
    /// - The tokenizer cannot decode them.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, Refused> {
        self.tokenizer.decode(tokens, true).map_err(|error| {
            let what = format!("the tokenizer cannot decode what the model wrote: {error}");
            Refused::asked("tokenizer", what, "tokenizer.json may be of another checkpoint: copy or download it again")
        })
    }
}

/// Text from tokens, as they come.
///
/// A tokenizer may write a token in another way where others are before it (a space that only the first word lacks). So a token
/// is decoded together with some that came before, and what was given out of them is taken off.
pub struct Streaming<'t> {
    text: &'t Text,
    /// The last tokens: some whose text was given out, then those of which something is missing.
    tokens: Vec<u32>,
    /// How many of them were whole.
    whole: usize,
    /// What was given out of their text.
    given_out: String,
}

impl<'t> Streaming<'t> {
    /// Behind these tokens, whose text is not given out.
    ///
    /// # Errors
    ///
    /// - The tokenizer cannot decode them.
    pub fn behind(text: &'t Text, prompt: &[u32]) -> Result<Streaming<'t>, Refused> {
        Ok(Streaming { text, tokens: prompt.to_vec(), whole: prompt.len(), given_out: text.decode(prompt)? })
    }

    /// Another token. Gives out the text that is certain by now: no token that follows can change it.
    ///
    /// # Errors
    ///
    /// - The tokenizer cannot decode it.
    pub fn push(&mut self, token: u32) -> Result<String, Refused> {
        self.tokens.push(token);
        let now = self.text.decode(&self.tokens)?;
        let certain = now.trim_end_matches(UNFINISHED);
        let new = match certain.strip_prefix(self.given_out.as_str()) {
            Some(new) => new.to_owned(),
            // Nothing new yet: what is unfinished began inside what was given out, or is all there is.
            None if self.given_out.starts_with(certain) => String::new(),
            // A tokenizer that writes earlier tokens anew: from here on they are not looked at.
            None => {
                self.tokens = vec![token];
                self.text.decode(&self.tokens)?
            }
        };
        if certain.len() == now.len() {
            // The next tokens are decoded behind these; what came before them cannot matter any more.
            self.tokens.drain(..self.whole.min(self.tokens.len() - 1));
            self.whole = self.tokens.len();
            self.given_out = self.text.decode(&self.tokens)?;
        } else {
            self.given_out.push_str(&new);
        }
        Ok(new)
    }

    /// What is left, whole or not.
    ///
    /// # Errors
    ///
    /// - The tokenizer cannot decode it.
    pub fn finish(self) -> Result<String, Refused> {
        let now = self.text.decode(&self.tokens)?;
        Ok(now.strip_prefix(self.given_out.as_str()).unwrap_or_default().to_owned())
    }
}
