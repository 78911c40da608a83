/** The experiments of a project. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ExperimentService } from '../../../gen/spandrel/v1/experiments_pb.js';
import { Snippet } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';

const route = getRouteApi('/$slug/experiments');

const SENT = `curl -s "$SPANDREL_URL/api/experiment/init" -H "X-Auth-Token: $SPANDREL_PROJECT_KEY" \\
  -H 'content-type: application/json' -d '{"experiment_name": "Answers"}'

curl -s "$SPANDREL_URL/api/evaluations/batch/log_results" -H "X-Auth-Token: $SPANDREL_PROJECT_KEY" \\
  -H 'content-type: application/json' -d '{"experiment_slug": "answers", "run_id": "first",
    "dataset": [{"index": 0, "entry": {"input": "hi"}, "predicted": {"output": "hello"}}],
    "evaluations": [{"index": 0, "evaluator": "exact_match", "score": 1, "passed": true}]}'`;

export default function ExperimentListPage() {
  const { slug } = route.useParams();
  const found = useQuery(ExperimentService.method.listExperiments);
  return (
    <Page
      title="Experiments"
      sub="Runs of your application over the same entries, to see whether a change made it better."
    >
      <Pending found={found} />
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
        <Table columns={['Name', 'Slug', 'Created', 'Last run']}>
          {found.data.data.map((experiment) => (
            <tr key={experiment.id}>
              <td>
                <Link to="/$slug/experiments/$experimentId" params={{ slug, experimentId: experiment.id }}>
                  {nameControls(experiment.name)}
                </Link>
              </td>
              <td className={page.mono}>{nameControls(experiment.slug)}</td>
              <InstantCell at={experiment.createdAt} />
              <InstantCell at={experiment.updatedAt} />
            </tr>
          ))}
        </Table>
      )}
    </Page>
  );
}
