import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { EvaluatorService, EvaluatorType } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { buttonClass } from '../design/button.tsx';
import { NONE, nameControls } from '../design/format.ts';
import { ListPage } from '../design/frame.tsx';
import page from '../design/page.module.css';
import { InstantCell } from '../design/table.tsx';
import { useSession } from '../session/session.tsx';
import { readConfig } from './settings.ts';

const route = getRouteApi('/$slug/evaluators');

export default function EvaluatorListPage() {
  const { slug } = route.useParams();
  const { may } = useSession();
  const found = useQuery(EvaluatorService.method.listEvaluators);
  const newEvaluator = may('evaluations:create') && (
    <Link to="/$slug/evaluators/new" params={{ slug }} className={buttonClass('primary')}>
      New evaluator
    </Link>
  );
  return (
    <ListPage
      title="Evaluators"
      sub="Saved configurations that rate what an application did."
      actions={newEvaluator}
      found={found}
      items={({ evaluators }) => evaluators}
      empty={{
        title: 'No evaluator yet',
        text: 'An evaluator says whether an output is what was expected, names what it must not, or has the right form. Choose one from the catalogue, try it on a text, and run it on the traces that are here.',
      }}
      columns={['Name', 'Slug', 'Kind', 'Changed']}
      row={(each) => (
        <tr key={each.id}>
          <td>
            <Link to="/$slug/evaluators/$evaluatorId" params={{ slug, evaluatorId: each.id }}>
              {nameControls(each.name ?? each.slug)}
            </Link>
          </td>
          <td className={page.mono}>{nameControls(each.slug)}</td>
          <td className={page.mono}>
            {nameControls(
              readConfig(each.configJson).evaluatorType ?? EvaluatorType[each.evaluatorType]?.toLowerCase() ?? NONE,
            )}
          </td>
          <InstantCell at={each.updatedAt} />
        </tr>
      )}
    />
  );
}
