/** The evaluation of a prompt on a dataset: its form, and the run that this page works on. */

import { callUnaryMethod, useQuery, useTransport } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { type Evaluator, EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { ExperimentService, type GetExperimentRunResponse } from '../../../gen/spandrel/v1/experiments_pb.js';
import type { Prompt } from '../../../gen/spandrel/v1/prompts_pb.js';
import { Button, buttonClass, Progress } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { formatCost, formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { EvaluateForm } from './evaluate-form.tsx';
import { ENTRIES_MAX, type Entry, type Plan, planOf, readEntry } from './evaluation-plan.ts';
import { evaluateEntries } from './evaluation-run.ts';

type EvaluateProps = {
  readonly slug: string;
  readonly prompt: Prompt;
  readonly experiment: string | undefined;
  readonly run: string | undefined;
  /** Undefined: back to the form. */
  readonly onRun: (place: { readonly experiment: string; readonly run: string } | undefined) => void;
};

export function Evaluate({ slug, prompt, experiment, run, onRun }: EvaluateProps) {
  const { may } = useSession();
  const [begun, setBegun] = useState<string | null>(null);
  const needed = ['experiments:create', 'experiments:update', 'datasets:view'].find((each) => !may(each));
  if (needed !== undefined) {
    return (
      <p>
        To evaluate a prompt you need the permission <code>{needed}</code>.
      </p>
    );
  }
  if (experiment === undefined || run === undefined) {
    return (
      <EvaluateForm
        slug={slug}
        prompt={prompt}
        onBegun={(experimentId, runId) => {
          setBegun(runId);
          onRun({ experiment: experimentId, run: runId });
        }}
      />
    );
  }
  return (
    <>
      <Run key={run} slug={slug} prompt={prompt} place={{ experiment, run }} begins={begun === run} />
      <div>
        <Button onClick={() => onRun(undefined)}>Another evaluation</Button>
      </div>
    </>
  );
}

type RunProps = Pick<EvaluateProps, 'slug' | 'prompt'> & {
  readonly place: { readonly experiment: string; readonly run: string };
  /** Whether it was begun just now, and starts by itself. */
  readonly begins: boolean;
};

function Run({ slug, prompt, place, begins }: RunProps) {
  const found = useQuery(ExperimentService.method.getExperimentRun, {
    slugOrId: place.experiment,
    runId: place.run,
    pageSize: ENTRIES_MAX,
  });
  const run = found.data?.run;
  const plan = run ? planOf(run, prompt.id) : null;
  const dataset = useQuery(
    DatasetService.method.getDataset,
    { slugOrId: run?.datasetId ?? '', ...(run?.datasetVersion !== undefined && { version: run.datasetVersion }) },
    { enabled: run?.datasetId !== undefined },
  );
  const evaluators = useQuery(
    EvaluatorService.method.listEvaluators,
    {},
    { enabled: (plan?.evaluators.length ?? 0) > 0 },
  );
  const judges = (evaluators.data?.evaluators ?? []).filter(({ id }) => plan?.evaluators.includes(id));
  if (!found.data || !run) return <Pending found={found} />;
  if (plan === null) return <p>This run is not one of this prompt.</p>;
  if (!dataset.data) return <Pending found={dataset} />;
  if (plan.evaluators.length > 0 && !evaluators.data) return <Pending found={evaluators} />;
  const entries = dataset.data.data.map(({ entryJson }) => readEntry(entryJson));
  const known = { plan, place, begins, entries, judges, stored: found.data };
  return (
    <section className={`${page.card} ${page.padded}`}>
      <h2>{nameControls(run.name)}</h2>
      <Work {...known} />
      <div className={page.row}>
        <Link
          to="/$slug/experiments/$experimentId/runs/$runId"
          params={{ slug, experimentId: run.experimentId, runId: run.id }}
          className={buttonClass()}
        >
          Results
        </Link>
      </div>
    </section>
  );
}

type WorkProps = Pick<RunProps, 'place' | 'begins'> & {
  readonly plan: Plan;
  readonly entries: readonly Entry[];
  readonly judges: readonly Evaluator[];
  readonly stored: GetExperimentRunResponse;
};

/** The entries that have a result, with its cost. */
type Done = ReadonlyMap<number, number>;

function Work({ plan, place, begins, entries, judges, stored }: WorkProps) {
  const transport = useTransport();
  const refresh = useRefresh();
  const [done, setDone] = useState<Done>(
    () => new Map(stored.data.map(({ index = 0, cost = 0 }) => [index, cost] as const)),
  );
  const [error, setError] = useState<unknown>(null);
  const working = useRef<AbortController | null>(null);
  const [isWorking, setWorking] = useState(false);
  const total = Math.min(plan.entries, entries.length);
  const start = async () => {
    const abort = new AbortController();
    working.current = abort;
    setWorking(true);
    setError(null);
    try {
      await evaluateEntries({
        ...{ plan, entries, evaluators: judges, experimentId: place.experiment, runId: place.run },
        ask: (method, input) => callUnaryMethod(transport, method, input),
        done: new Set(done.keys()),
        signal: abort.signal,
        onResult: (index, cost) => setDone((now) => new Map([...now, [index, cost]])),
      });
    } catch (failure) {
      setError(failure);
    }
    setWorking(false);
    await refresh();
  };
  const begin = useRef(begins ? start : null);
  useEffect(() => {
    const first = begin.current;
    begin.current = null;
    void first?.();
    return () => working.current?.abort();
  }, []);
  const isDone = done.size >= total;
  const cost = [...done.values()].reduce((sum, each) => sum + each, 0);
  return (
    <>
      <Progress label="Entries with a result" done={done.size} all={total} />
      <p role="status">
        {formatCount(done.size)} of {formatCount(total)} entries, {formatCost(cost)}.{' '}
        {isWorking ? 'Keep this page open.' : isDone ? 'Done.' : 'Stopped: nothing is asked while it is.'}
      </p>
      {error instanceof Error && <FailureNotice error={error} />}
      {!isDone && (
        <div>
          {isWorking ? (
            <Button onClick={() => working.current?.abort()}>Stop</Button>
          ) : (
            <Button variant="primary" onClick={() => void start()}>
              Go on
            </Button>
          )}
        </div>
      )}
    </>
  );
}
