import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { EvaluatorService, EvaluatorType } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { buttonClass, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { NONE, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Table } from '../design/table.tsx';
import { useSession } from '../session/session.tsx';
import { readConfig } from './settings.ts';

const route = getRouteApi('/$slug/evaluators');

export function EvaluatorListPage() {
  const { slug } = route.useParams();
  const { may } = useSession();
  const found = useQuery(EvaluatorService.method.listEvaluators);
  const newEvaluator = may('evaluations:create') && (
    <Link to="/$slug/evaluators/new" params={{ slug }} className={buttonClass('primary')}>
      New evaluator
    </Link>
  );
  return (
    <div className={page.page}>
      <div className={page.head}>
        <div>
          <h1>Evaluators</h1>
          <p className={page.sub}>Saved configurations that rate what an application did.</p>
        </div>
        {newEvaluator}
      </div>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.data?.evaluators.length === 0 && (
        <div className={`${page.card} ${page.empty}`}>
          <h2>No evaluator yet</h2>
          <p>
            An evaluator says whether an output is what was expected, names what it must not, or has the right form.
            Choose one from the catalogue, try it on a text, and run it on the traces that are here.
          </p>
        </div>
      )}
      {found.data && found.data.evaluators.length > 0 && (
        <div className={`${page.card} ${page.scroll}`}>
          <Table columns={['Name', 'Slug', 'Kind', 'Changed']}>
            {found.data.evaluators.map((each) => (
              <tr key={each.id}>
                <td>
                  <Link to="/$slug/evaluators/$evaluatorId" params={{ slug, evaluatorId: each.id }}>
                    {nameControls(each.name ?? each.slug)}
                  </Link>
                </td>
                <td className={page.mono}>{nameControls(each.slug)}</td>
                <td className={page.mono}>
                  {nameControls(
                    readConfig(each.configJson).evaluatorType ??
                      EvaluatorType[each.evaluatorType]?.toLowerCase() ??
                      NONE,
                  )}
                </td>
                <td className={page.nowrap}>
                  <Instant at={each.updatedAt} />
                </td>
              </tr>
            ))}{' '}
          </Table>
        </div>
      )}
    </div>
  );
}
