import { afterAll, beforeAll } from 'vitest';
import { createFixture, type Fixture } from './access-fixture.ts';
import { testMatrix } from './matrix.ts';
import { PROMPT_MATRIX } from './prompts-matrix.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

testMatrix(PROMPT_MATRIX, () => fixture);
