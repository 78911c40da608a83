/** Creates an evaluator: choose its type from the catalogue, then its settings. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { EvaluationService, type EvaluatorTypeInfo } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { Badge } from '../design/button.tsx';
import page from '../design/page.module.css';
import { Back, Page, Pending } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { EvaluatorForm } from './evaluator-form.tsx';
import styles from './evaluators.module.css';
import { defaultsOf } from './settings.ts';

const route = getRouteApi('/$slug/evaluators/new');

export default function NewEvaluatorPage() {
  const { slug } = route.useParams();
  const { type: id } = route.useSearch();
  const found = useQuery(EvaluationService.method.listEvaluatorTypes);
  const types = found.data?.evaluators ?? {};
  const type = id !== undefined && Object.hasOwn(types, id) ? types[id] : undefined;
  return (
    <Page
      back={
        type ? (
          <Back to="/$slug/evaluators/new" params={{ slug }} label="All kinds" />
        ) : (
          <Back to="/$slug/evaluators" params={{ slug }} label="Evaluators" />
        )
      }
      title="New evaluator"
      sub={type ? `${type.name}: ${type.description}` : 'Choose an evaluator.'}
    >
      <Pending found={found} />
      {id !== undefined && type && <Draft key={id} id={id} type={type} />}
      {found.data && !type && <Catalogue types={types} />}
    </Page>
  );
}

function Draft({ id, type }: { readonly id: string; readonly type: EvaluatorTypeInfo }) {
  const { slug } = route.useParams();
  const navigate = route.useNavigate();
  const create = useChange(EvaluatorService.method.createEvaluator, async ({ evaluator }) => {
    if (!evaluator) return;
    await navigate({ to: '/$slug/evaluators/$evaluatorId', params: { slug, evaluatorId: evaluator.id }, search: {} });
  });
  return (
    <>
      {!type.available && <p role="status">This server can save it but not run it: {type.unavailableReason}.</p>}
      <EvaluatorForm
        type={type}
        start={{ name: type.name, settings: defaultsOf(type.settingsJsonSchemaJson), onError: 'pass' }}
        action="Save the evaluator"
        call={create}
        onSubmit={({ name, settings, onError }) =>
          create.mutate({ name, configJson: JSON.stringify({ evaluatorType: id, settings, onError }) })
        }
      />
    </>
  );
}

function Catalogue({ types }: { readonly types: { readonly [id: string]: EvaluatorTypeInfo } }) {
  const all = Object.entries(types);
  const running = all.filter(([, { available }]) => available);
  const others = all.filter(([, { available }]) => !available);
  return (
    <>
      <TypeList types={running} />
      {others.length > 0 && (
        <details>
          <summary>{others.length} more that this server cannot run, and why</summary>
          <TypeList types={others} />
        </details>
      )}
    </>
  );
}

function TypeList({ types }: { readonly types: readonly (readonly [id: string, type: EvaluatorTypeInfo])[] }) {
  const { slug } = route.useParams();
  return (
    <ul className={styles.types}>
      {types.map(([id, type]) => (
        <li key={id}>
          <Link
            to="/$slug/evaluators/new"
            params={{ slug }}
            search={{ type: id }}
            className={`${page.card} ${styles.type}`}
          >
            <span className={`${page.row} ${styles.typeName}`}>
              {type.name} <Badge>{type.category}</Badge>
            </span>
            <span>{type.description}</span>
            <span className={page.soft}>Reads {type.requiredFields.join(', ') || type.optionalFields.join(', ')}</span>
            {type.unavailableReason !== undefined && (
              <span className={page.soft}>Not here: {type.unavailableReason}</span>
            )}
          </Link>
        </li>
      ))}
    </ul>
  );
}
