/** The rules for the requests of a virtual key. */

import { useQuery } from '@connectrpc/connect-query';
import { type ModelProvider, ModelProviderService } from '../../../gen/spandrel/v1/model_providers_pb.js';
import { VirtualKeyCacheMode, VirtualKeyCapture } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { Button } from '../design/button.tsx';
import { AreaField, Check, SelectField, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { useSession } from '../session/session.tsx';
import type { RuleDraft } from './key-draft.ts';
import styles from './virtual-keys.module.css';

type RuleFieldsProps = {
  readonly rules: RuleDraft;
  readonly projectId: string;
  readonly onChange: (part: Partial<RuleDraft>) => void;
};

/** An organization has no more. */
const PROVIDERS_MAX = 200;

const LIMITS = [
  ['rpm', 'Requests a minute'],
  ['rpd', 'Requests a day'],
  ['tpm', 'Tokens a minute'],
] as const;

const CACHE_MODES = [
  [VirtualKeyCacheMode.OFF, 'Off'],
  [VirtualKeyCacheMode.EXACT, 'Answer equal requests from it'],
] as const;

const CAPTURES = [
  [VirtualKeyCapture.FULL, 'Messages, answers and figures'],
  [VirtualKeyCapture.METADATA, 'Figures only, no texts'],
] as const;

export function RuleFields({ rules, projectId, onChange }: RuleFieldsProps) {
  return (
    <>
      <fieldset className={page.group}>
        <legend>Models and providers</legend>
        <AreaField
          label="Models allowed"
          hint="One per line; * matches any characters. Leave it empty for all."
          field="config.models_allowed"
          rows={2}
          spellCheck={false}
          placeholder="gpt-5*"
          value={rules.models}
          onChange={(models) => onChange({ models })}
        />
        <ProviderOrder
          chosen={rules.providers}
          projectId={projectId}
          onChange={(providers) => onChange({ providers })}
        />
        <TextField
          label="Maximum providers per request"
          hint="If one fails, the next is tried; 1 to 5, 3 by default."
          field="config.fallback"
          type="number"
          min={1}
          max={5}
          value={rules.attempts}
          onChange={(attempts) => onChange({ attempts })}
        />
        <Check checked={rules.allowUnpriced} onChange={(allowUnpriced) => onChange({ allowUnpriced })}>
          Let models without a price pass blocking budgets
        </Check>
      </fieldset>
      <fieldset className={page.group}>
        <legend>Rate limits</legend>
        <div className={styles.numbers}>
          {LIMITS.map(([name, label]) => (
            <TextField
              key={name}
              label={label}
              field={`config.rate_limits.${name}`}
              type="number"
              min={1}
              placeholder="no limit"
              value={rules[name]}
              onChange={(text) => onChange({ [name]: text })}
            />
          ))}
        </div>
      </fieldset>
      <fieldset className={page.group}>
        <legend>Cache and traces</legend>
        <SelectField
          label="Cache"
          value={rules.cacheMode}
          options={CACHE_MODES}
          onChange={(cacheMode) => onChange({ cacheMode })}
        />
        {rules.cacheMode === VirtualKeyCacheMode.EXACT && (
          <TextField
            label="Cache lifetime, in seconds"
            hint="At most 86,400 (a day); an hour by default."
            field="config.cache.ttl_s"
            type="number"
            min={1}
            max={86_400}
            value={rules.cacheSeconds}
            onChange={(cacheSeconds) => onChange({ cacheSeconds })}
          />
        )}
        <SelectField
          label="Stored in traces"
          value={rules.capture}
          options={CAPTURES}
          onChange={(capture) => onChange({ capture })}
        />
      </fieldset>
    </>
  );
}

type ProviderOrderProps = {
  /** Ids, the first one is tried first. */
  readonly chosen: readonly string[];
  readonly projectId: string;
  readonly onChange: (chosen: readonly string[]) => void;
};

/** The providers of a key in the order in which they are tried. */
function ProviderOrder({ chosen, projectId, onChange }: ProviderOrderProps) {
  const { may } = useSession();
  const { data } = useQuery(
    ModelProviderService.method.listModelProviders,
    { pageSize: PROVIDERS_MAX },
    { enabled: may('gatewayProviders:view') },
  );
  const usable = data?.data.filter(({ projectIds }) => projectIds?.ids.includes(projectId) ?? true) ?? [];
  const nameOf = (id: string) => nameControls(data?.data.find((each) => each.id === id)?.name ?? id);
  const others = usable.filter(({ id }) => !chosen.includes(id));
  return (
    <div className={styles.order} role="group" aria-label="Providers">
      {chosen.length > 0 && (
        <ol className={styles.list}>
          {chosen.map((id, index) => (
            <li key={id} className={page.row}>
              <span className={styles.name}>
                {index + 1}. {nameOf(id)}
              </span>
              <Button
                small
                disabled={index === 0}
                aria-label={`Try ${nameOf(id)} earlier`}
                onClick={() => onChange(chosen.toSpliced(index, 1).toSpliced(index - 1, 0, id))}
              >
                Earlier
              </Button>
              <Button
                small
                aria-label={`Remove ${nameOf(id)}`}
                onClick={() => onChange(chosen.filter((each) => each !== id))}
              >
                Remove
              </Button>
            </li>
          ))}
        </ol>
      )}
      <SelectField
        label={chosen.length === 0 ? 'Providers' : 'Then'}
        hint={hintOf(chosen, usable)}
        field="config.providers"
        value=""
        disabled={others.length === 0}
        options={[
          ['', chosen.length === 0 ? 'All that the project uses, oldest first' : 'Add a provider…'],
          ...others.map(({ id }) => [id, nameOf(id)] as const),
        ]}
        onChange={(id) => id !== '' && onChange([...chosen, id])}
      />
    </div>
  );
}

function hintOf(chosen: readonly string[], usable: readonly ModelProvider[]): string | undefined {
  if (chosen.length > 0) return 'The first provider that offers the model is tried first.';
  return usable.length === 0 ? undefined : 'Choose providers to use only those, in your order.';
}
