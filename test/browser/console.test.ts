/** The console in a real browser, against a real server. The journeys share both, and go side by side. */

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
  // The longest first: what is begun last would leave a processor idle at the end.
  pushEvents(stage);
  useAnyhow(stage);
  collectAndFind(stage);
  lookAtTraces(stage);
  manage(stage);
  signIn(stage);
});
