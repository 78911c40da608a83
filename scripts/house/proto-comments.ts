/** The comments of the contract. They are read as a reference: each stands alone, without the lines around it. */

import { globSync, readFileSync } from 'node:fs';

const CONTRACT = new URL('../../proto/spandrel/', import.meta.url);
/** Fewer words only repeat a name or refer to another comment. */
export const WORDS_MIN = 4;
/** Lines of a comment, and the line of what it is about: a message, field, oneof, enum, enum value, rpc or service. */
const COMMENT =
  /((?:^[ \t]*\/\/.*\n)+)[ \t]*((?:message|enum|service|rpc|oneof) \w+|(?:(?:optional|repeated) )?[\w.]+(?:<[^>]*>)?(?: \w+)? = -?\d+)/gm;

export type ProtoComment = { readonly place: string; readonly about: string; readonly words: readonly string[] };

export function protoComments(): readonly ProtoComment[] {
  return globSync('**/*.proto', { cwd: CONTRACT }).flatMap(commentsOf);
}

/** The comments of fewer than four words, one a line. */
export function shortComments(comments: readonly ProtoComment[]): readonly string[] {
  return comments
    .filter(({ words }) => words.length < WORDS_MIN)
    .map(({ place, about, words }) => `${place} ${about}: ${words.join(' ')}`);
}

function commentsOf(file: string): readonly ProtoComment[] {
  const text = readFileSync(new URL(file, CONTRACT), 'utf8');
  return [...text.matchAll(COMMENT)].map(({ 1: lines = '', 2: about = '', index }) => ({
    place: `${file}:${text.slice(0, index).split('\n').length}`,
    about,
    words: lines.match(/[^\s/]\S*/g) ?? [],
  }));
}
