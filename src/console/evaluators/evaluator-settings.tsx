/** Shows, changes and deletes an evaluator. */

import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useNavigate } from '@tanstack/react-router';
import { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { type Evaluator, EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { DeleteForGood } from '../design/confirm.tsx';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { JsonView } from '../trace/json-view.tsx';
import { Section } from '../trace/section.tsx';
import { EvaluatorForm } from './evaluator-form.tsx';
import { readConfig } from './settings.ts';

type EvaluatorProps = { readonly slug: string; readonly evaluator: Evaluator };

export function EvaluatorSettings({ slug, evaluator }: EvaluatorProps) {
  const { may } = useSession();
  return (
    <>
      {may('evaluations:update') && <Change evaluator={evaluator} />}
      <Section title="Configuration, as it is kept">
        <JsonView json={evaluator.configJson ?? '{}'} label="configuration" />
      </Section>
      {may('evaluations:delete') && <Delete slug={slug} evaluator={evaluator} />}
    </>
  );
}

function Change({ evaluator }: { readonly evaluator: Evaluator }) {
  const refresh = useRefresh();
  const types = useQuery(EvaluationService.method.listEvaluatorTypes);
  const update = useMutation(EvaluatorService.method.updateEvaluator, { onSuccess: refresh });
  const { evaluatorType, settings, onError } = readConfig(evaluator.configJson);
  if (!types.isSuccess) return <Pending found={types} />;
  const known = types.data.evaluators;
  const type = evaluatorType !== null && Object.hasOwn(known, evaluatorType) ? known[evaluatorType] : undefined;
  if (!type) return <p className={page.soft}>It is stored but never run here. Only the API changes it.</p>;
  return (
    <>
      <EvaluatorForm
        type={type}
        start={{ name: evaluator.name ?? '', settings, onError }}
        action="Save"
        pending={update.isPending}
        error={update.error}
        onSubmit={(draft) =>
          update.mutate({
            idOrSlug: evaluator.id,
            evaluator: {
              name: draft.name,
              configJson: JSON.stringify({ settings: draft.settings, onError: draft.onError }),
            },
            updateMask: { paths: ['name', 'config_json'] },
          })
        }
      />
      <p role="status">{update.isSuccess && 'Saved. Monitors and runs use it from now on.'}</p>
    </>
  );
}

function Delete({ slug, evaluator }: EvaluatorProps) {
  const navigate = useNavigate();
  const refresh = useRefresh();
  const remove = useMutation(EvaluatorService.method.deleteEvaluator, {
    async onSuccess() {
      await navigate({ to: '/$slug/evaluators', params: { slug } });
      await refresh();
    },
  });
  return (
    <div>
      <DeleteForGood
        label="Delete the evaluator"
        name={evaluator.name ?? evaluator.slug}
        pending={remove.isPending}
        error={remove.error}
        onDelete={() => remove.mutate({ idOrSlug: evaluator.id })}
      >
        Nothing can run it any more, and its monitors are switched off. Results that it made stay. This cannot be
        undone.
      </DeleteForGood>
    </div>
  );
}
