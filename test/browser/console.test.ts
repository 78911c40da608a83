/** The console in a real browser, against a real server. The journeys share both and run concurrently. */

import { describe } from 'vitest';
import { isFullTier } from '../support/scenario.ts';
import { administer } from './journeys/administer.ts';
import { alert } from './journeys/alert.ts';
import { annotate } from './journeys/annotate.ts';
import { limitSpending } from './journeys/budgets.ts';
import { collectAndFind } from './journeys/collect-and-find.ts';
import { readRuns } from './journeys/conversation.ts';
import { deleteTraces } from './journeys/delete-traces.ts';
import { evaluate } from './journeys/evaluate.ts';
import { experiment } from './journeys/experiment.ts';
import { findAnything } from './journeys/find-anything.ts';
import { findGroups } from './journeys/find-groups.ts';
import { doFindTasks } from './journeys/find-tasks.ts';
import { meetForeignPages } from './journeys/foreign-pages.ts';
import { useGateway } from './journeys/gateway.ts';
import { keepPlace } from './journeys/keep-place.ts';
import { lookAtTraces } from './journeys/look-at-traces.ts';
import { manage } from './journeys/manage.ts';
import { narrowDown } from './journeys/narrow-down.ts';
import { managePrompts } from './journeys/prompts.ts';
import { readTrace } from './journeys/read-a-trace.ts';
import { readElsewhere } from './journeys/read-elsewhere.ts';
import { recover } from './journeys/recover.ts';
import { shareTrace } from './journeys/share-a-trace.ts';
import { signIn, signInThroughIssuer } from './journeys/sign-in.ts';
import { tellWhatIsWrong } from './journeys/tell-what-is-wrong.ts';
import { doTenTasks } from './journeys/ten-tasks.ts';
import { useAnyhow } from './journeys/use-anyhow.ts';
import { watch } from './journeys/watch.ts';
import { openStage } from './stage.ts';

const stage = openStage();

/**
 * What is done now and then, and other readers. The quick tier opens each page of the menu and looks for barriers there, and
 * the rules behind these pages have tests of their own.
 */
function doNowAndThen(): void {
  evaluate(stage);
  experiment(stage);
  useGateway(stage);
  administer(stage);
  limitSpending(stage);
  manage(stage);
  shareTrace(stage);
  readElsewhere(stage);
  managePrompts(stage);
  doFindTasks(stage);
  alert(stage);
  annotate(stage);
  deleteTraces(stage);
  tellWhatIsWrong(stage);
  findGroups(stage);
  watch(stage);
}

describe.concurrent('the console', () => {
  // The longest first: a long journey started last would leave a processor idle.
  if (isFullTier) doNowAndThen();
  doTenTasks(stage);
  useAnyhow(stage);
  readTrace(stage);
  keepPlace(stage);
  collectAndFind(stage);
  lookAtTraces(stage);
  narrowDown(stage);
  readRuns(stage);
  recover(stage);
  signIn(stage);
  signInThroughIssuer(stage);
  meetForeignPages(stage);
  findAnything(stage);
});
