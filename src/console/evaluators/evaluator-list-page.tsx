import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { EvaluatorService, EvaluatorType } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';

const route = getRouteApi('/$slug/evaluators');

export function EvaluatorListPage() {
  const { slug } = route.useParams();
  const found = useQuery(EvaluatorService.method.listEvaluators);
  return (
    <div className={page.page}>
      <div>
        <h1>Evaluators</h1>
        <p className={page.sub}>Saved ways to judge what an application did.</p>
      </div>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {found.data?.evaluators.length === 0 && (
        <div className={`${page.card} ${page.empty}`}>
          <h2>No evaluator yet</h2>
          <p>They are saved by POST /api/evaluators, which the list of routes at /docs describes.</p>
        </div>
      )}
      {found.data && found.data.evaluators.length > 0 && (
        <div className={`${page.card} ${page.scroll}`}>
          <table className={page.table}>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Slug</th>
                <th scope="col">Kind</th>
                <th scope="col">Changed</th>
              </tr>
            </thead>
            <tbody>
              {found.data.evaluators.map((each) => (
                <tr key={each.id}>
                  <td>
                    <Link to="/$slug/evaluators/$evaluatorId" params={{ slug, evaluatorId: each.id }}>
                      {nameControls(each.name ?? each.slug)}
                    </Link>
                  </td>
                  <td className={page.mono}>{nameControls(each.slug)}</td>
                  <td>{EvaluatorType[each.evaluatorType]?.toLowerCase()}</td>
                  <td className={page.nowrap}>
                    <Instant at={each.updatedAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
