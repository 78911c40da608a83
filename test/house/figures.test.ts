/** What `npm run house` counts. The figures may only fall: a commit that lowers one lowers it here, too. */

import { describe, expect, it } from 'vitest';
import { findCircles, generatedFiles, importsOf, singleUserFiles, sourceFiles } from '../../scripts/house/imports.ts';
import { protoComments, shortComments, WORDS_MIN } from '../../scripts/house/proto-comments.ts';

const SHORT_COMMENTS_MAX = 0;
/** Imports of types count, too. */
const CIRCLES_MAX = 0;
const SINGLE_USER_FILES_MAX = 70;

describe('no more than before are', () => {
  const imports = sourceFiles().flatMap(importsOf);
  const comments = protoComments();

  it(`comments of the contract of fewer than ${WORDS_MIN} words`, () => {
    expectAtMost(SHORT_COMMENTS_MAX, shortComments(comments));
  });

  it('circles of imports, also through generated code', () => {
    const generated = generatedFiles().flatMap(importsOf);
    expect(imports.length).toBeGreaterThan(100);
    expect(generated.filter(({ file }) => file.endsWith('.js')).length).toBeGreaterThan(100);
    expect(generated.filter(({ file }) => file.endsWith('.d.ts')).length).toBeGreaterThan(50);
    expectAtMost(CIRCLES_MAX, findCircles([...imports, ...generated]));
  });

  it('small files with a single user', () => {
    const files = singleUserFiles(imports);
    expect(files.length).toBeGreaterThan(0);
    expectAtMost(SINGLE_USER_FILES_MAX, files);
  });

  it('and comments of all kinds are judged', () => {
    const abouts = comments.map(({ about }) => about);
    for (const about of ['message Dataset', 'service DatasetService', 'rpc GetDataset', 'enum EvaluatorType']) {
      expect(abouts).toContain(about);
    }
    expect(abouts).toContain('EVALUATOR_TYPE_CODE = 3');
    expect(abouts).toContain('map<string, EvaluatorTypeInfo> evaluators = 1');
    expect(comments.length).toBeGreaterThan(1_500);
  });
});

function expectAtMost(max: number, found: readonly string[]): void {
  expect(found.length, found.join('\n')).toBeLessThanOrEqual(max);
}
