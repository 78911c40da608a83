/** Access to experiments: each kind of operation has its own permission. */

import { ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { callRest } from '../../support/surfaces.ts';
import { freshName } from './access-fixture.ts';
import { type Matrix, makeFor, type Operation } from './matrix.ts';

const { listExperiments, getExperiment, initExperiment, deleteExperiment } = ExperimentService.method;
const { listExperimentRuns, getExperimentRun, createExperimentRun, logExperimentResults } = ExperimentService.method;
const { finishExperimentRun, deleteExperimentRun, compareExperimentRuns, listExperimentRunResults } =
  ExperimentService.method;

const TABLE = `
row                    | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
list the experiments   | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
read an experiment     | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
make an experiment     | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
delete an experiment   | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
list the runs          | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
read a run             | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
list the results       | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
make a run             | 201  | 201 | 403d | 403d | 403d | 201  | 403d | 201  | 201 | 403d | 403d | 201
compare two runs       | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
add results to a run   | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
end a run              | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
delete a run           | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
`;

/** Creates an experiment with a run "run". */
const experiment = makeFor(async ({ fixture }) => {
  const { address, projectKey } = fixture.app;
  const headers = { 'x-auth-token': projectKey };
  const post = (path: string, body: object) => callRest(address, { verb: 'POST', path, body, headers });
  const { slug } = (await post('/api/experiment/init', { experiment_name: freshName('Tried') })).body;
  await post('/api/evaluations/batch/log_results', { experiment_slug: slug, run_id: 'run' });
  return String(slug);
});

type Sent = Pick<Awaited<ReturnType<Operation['ask']>>, 'body' | 'message' | 'query'>;

const onExperiment = (method: Operation['method'], sent?: (slug: string) => Sent): Operation => ({
  method,
  ask: async (cell) => {
    const slug = await experiment(cell);
    return {
      headers: { 'x-project-id': cell.fixture.projects.P1 },
      parameters: { slug_or_id: slug, run_id: 'run' },
      ...sent?.(slug),
    };
  },
});

export const EXPERIMENT_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'list the experiments': {
      method: listExperiments,
      ask: ({ fixture }) => ({ headers: { 'x-project-id': fixture.projects.P1 } }),
    },
    'read an experiment': onExperiment(getExperiment),
    'make an experiment': {
      method: initExperiment,
      ask: ({ fixture }) => ({
        headers: { 'x-project-id': fixture.projects.P1 },
        body: { experiment_name: freshName('Tried') },
      }),
    },
    'delete an experiment': onExperiment(deleteExperiment),
    'list the runs': onExperiment(listExperimentRuns),
    'read a run': onExperiment(getExperimentRun),
    'list the results': onExperiment(listExperimentRunResults, (slug) => ({ query: { experimentSlug: slug } })),
    'make a run': onExperiment(createExperimentRun, () => ({ body: { run_id: freshName('run') } })),
    'compare two runs': onExperiment(compareExperimentRuns, () => ({ query: { base: 'run', other: 'run' } })),
    'add results to a run': onExperiment(logExperimentResults, (slug) => ({
      body: { experiment_slug: slug, run_id: 'run', progress: 1 },
      message: { experimentSlug: slug, runId: 'run', progress: 1 },
    })),
    'end a run': onExperiment(finishExperimentRun),
    'delete a run': onExperiment(deleteExperimentRun),
  },
};
