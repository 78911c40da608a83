/** The console in a real browser, against a real server. The journeys share both and run concurrently. */

import { describe } from 'vitest';
import { collectAndFind } from './journeys/collect-and-find.ts';
import { lookAtTraces } from './journeys/look-at-traces.ts';
import { manage } from './journeys/manage.ts';
import { pushEvents } from './journeys/push-events.ts';
import { signIn } from './journeys/sign-in.ts';
import { useAnyhow } from './journeys/use-anyhow.ts';
import { openStage } from './stage.ts';

const stage = openStage();

describe.concurrent('the console', () => {
  // The longest first: a long journey started last would leave a processor idle.
  pushEvents(stage);
  useAnyhow(stage);
  collectAndFind(stage);
  lookAtTraces(stage);
  manage(stage);
  signIn(stage);
});
