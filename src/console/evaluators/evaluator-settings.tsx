/** Shows, changes and deletes an evaluator. */

import { useQuery } from '@connectrpc/connect-query';
import { useNavigate } from '@tanstack/react-router';
import { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { type Evaluator, EvaluatorService } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { DeleteForGood } from '../design/confirm.tsx';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { JsonView } from '../trace/json-view.tsx';
import { Section } from '../trace/section.tsx';
import { EvaluatorForm } from './evaluator-form.tsx';
import { readConfig } from './settings.ts';

type EvaluatorSettingsProps = { readonly slug: string; readonly evaluator: Evaluator };

export function EvaluatorSettings({ slug, evaluator }: EvaluatorSettingsProps) {
  const { may } = useSession();
  const navigate = useNavigate();
  return (
    <>
      {may('evaluations:update') && <Change evaluator={evaluator} />}
      <Section title="Configuration, as it is kept">
        <JsonView json={evaluator.configJson ?? '{}'} label="configuration" />
      </Section>
      {may('evaluations:delete') && (
        <div>
          <DeleteForGood
            label="Delete the evaluator"
            name={evaluator.name ?? evaluator.slug}
            method={EvaluatorService.method.deleteEvaluator}
            input={{ idOrSlug: evaluator.id }}
            onDone={() => navigate({ to: '/$slug/evaluators', params: { slug } })}
          >
            It can no longer run, and its monitors are switched off. Its results are kept. This cannot be undone.
          </DeleteForGood>
        </div>
      )}
    </>
  );
}

function Change({ evaluator }: { readonly evaluator: Evaluator }) {
  const types = useQuery(EvaluationService.method.listEvaluatorTypes);
  const update = useChange(EvaluatorService.method.updateEvaluator);
  const { evaluatorType, settings, onError } = readConfig(evaluator.configJson);
  if (!types.isSuccess) return <Pending found={types} />;
  const known = types.data.evaluators;
  const type = evaluatorType !== null && Object.hasOwn(known, evaluatorType) ? known[evaluatorType] : undefined;
  if (!type)
    return (
      <p className={page.soft}>This server stores it but cannot run it. It can only be changed through the API.</p>
    );
  return (
    <>
      <EvaluatorForm
        type={type}
        start={{ name: evaluator.name ?? '', settings, onError }}
        action="Save"
        call={update}
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
