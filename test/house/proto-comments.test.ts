/** The contract is read as a reference: a comment stands alone, without the lines around it. */

import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const CONTRACT = new URL('../../proto/spandrel/', import.meta.url);
/** Fewer words only repeat a name or refer to another comment. */
const WORDS_MIN = 4;
/** Lines of a comment, and the line of what it is about: a message, field, oneof, enum, enum value, rpc or service. */
const COMMENT =
  /((?:^[ \t]*\/\/.*\n)+)[ \t]*((?:message|enum|service|rpc|oneof) \w+|(?:(?:optional|repeated) )?[\w.]+(?:<[^>]*>)?(?: \w+)? = -?\d+)/gm;

type Comment = { readonly place: string; readonly about: string; readonly words: readonly string[] };

function commentsOf(file: string): readonly Comment[] {
  const text = readFileSync(new URL(file, CONTRACT), 'utf8');
  return [...text.matchAll(COMMENT)].map(({ 1: lines = '', 2: about = '', index }) => ({
    place: `${file}:${text.slice(0, index).split('\n').length}`,
    about,
    words: lines.match(/[^\s/]\S*/g) ?? [],
  }));
}

describe('the contract', () => {
  const comments = globSync('**/*.proto', { cwd: CONTRACT }).flatMap(commentsOf);

  it('has comments of all kinds to judge', () => {
    const abouts = comments.map(({ about }) => about);
    for (const about of ['message Dataset', 'service DatasetService', 'rpc GetDataset', 'enum EvaluatorType']) {
      expect(abouts).toContain(about);
    }
    expect(abouts).toContain('EVALUATOR_TYPE_CODE = 3');
    expect(abouts).toContain('map<string, EvaluatorTypeInfo> evaluators = 1');
    expect(comments.length).toBeGreaterThan(1_500);
  });

  it(`has no comment of fewer than ${WORDS_MIN} words`, () => {
    const short = comments.filter(({ words }) => words.length < WORDS_MIN);
    expect(short.map(({ place, about, words }) => `${place} ${about}: ${words.join(' ')}`)).toEqual([]);
  });
});
