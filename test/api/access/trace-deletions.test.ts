import { afterAll, beforeAll } from 'vitest';
import { createFixture, type Fixture } from './access-fixture.ts';
import { testMatrix } from './matrix.ts';
import { SAVED_VIEW_MATRIX } from './saved-views-matrix.ts';
import { TRACE_DELETION_MATRIX } from './trace-deletions-matrix.ts';
import { TRACE_SHARE_MATRIX } from './trace-shares-matrix.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => {
  await fixture.app.close();
});

testMatrix(TRACE_DELETION_MATRIX, () => fixture);
testMatrix(TRACE_SHARE_MATRIX, () => fixture);
testMatrix(SAVED_VIEW_MATRIX, () => fixture);
