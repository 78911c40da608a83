/** The experiments of a project. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { Loading, Snippet } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';

const route = getRouteApi('/$slug/experiments');

const SENT = `curl -s "$SPANDREL_URL/api/experiment/init" -H "X-Auth-Token: $SPANDREL_PROJECT_KEY" \\
  -H 'content-type: application/json' -d '{"experiment_name": "Answers"}'

curl -s "$SPANDREL_URL/api/evaluations/batch/log_results" -H "X-Auth-Token: $SPANDREL_PROJECT_KEY" \\
  -H 'content-type: application/json' -d '{"experiment_slug": "answers", "run_id": "first",
    "dataset": [{"index": 0, "entry": {"input": "hi"}, "predicted": {"output": "hello"}}],
    "evaluations": [{"index": 0, "evaluator": "exact_match", "score": 1, "passed": true}]}'`;

export function ExperimentListPage() {
  const { slug } = route.useParams();
  const found = useQuery(ExperimentService.method.listExperiments);
  return (
    <div className={page.page}>
      <div>
        <h1>Experiments</h1>
        <p className={page.sub}>
          Runs of an application over the same entries, to see whether a change made it better.
        </p>
      </div>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.data?.data.length === 0 && (
        <div className={`${page.card} ${page.padded}`}>
          <h2>No experiment yet</h2>
          <p>
            Send the output of your application for each entry, with the results of evaluators. Then send another run to
            compare.
          </p>
          <Snippet title="A first run" code={SENT} />
        </div>
      )}
      {found.data && found.data.data.length > 0 && (
        <div className={`${page.card} ${page.scroll}`}>
          <Table columns={['Name', 'Slug', 'Made', 'Last run']}>
            {found.data.data.map((experiment) => (
              <tr key={experiment.id}>
                <td>
                  <Link to="/$slug/experiments/$experimentId" params={{ slug, experimentId: experiment.id }}>
                    {nameControls(experiment.name)}
                  </Link>
                </td>
                <td className={page.mono}>{nameControls(experiment.slug)}</td>
                <td className={page.nowrap}>
                  <Instant at={experiment.createdAt} />
                </td>
                <td className={page.nowrap}>
                  <Instant at={experiment.updatedAt} />
                </td>
              </tr>
            ))}{' '}
          </Table>
        </div>
      )}
    </div>
  );
}
