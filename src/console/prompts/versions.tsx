/** The versions of a prompt, and the words in which two of them differ. */

import { useQuery } from '@connectrpc/connect-query';
import { type Prompt, PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { diffWords } from '../compare/diff.ts';
import { Words } from '../compare/words.tsx';
import { ConfirmButton, ModalButton } from '../design/confirm.tsx';
import { SelectField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import { useSession } from '../session/session.tsx';
import { Section } from '../trace/section.tsx';
import { roleName, TYPES } from './draft.ts';
import styles from './prompts.module.css';
import { TagBadges, TagForm } from './tags.tsx';

type VersionsProps = {
  readonly prompt: Prompt;
  readonly mayChange: boolean;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly onCompare: (from: string, to: string) => void;
};

export function Versions({ prompt, mayChange, from, to, onCompare }: VersionsProps) {
  const found = useQuery(PromptService.method.listPromptVersions, { id: prompt.id });
  const versions = found.data?.versions ?? [];
  return (
    <>
      <Pending found={found} />
      {versions.length > 0 && (
        <Table columns={[{ number: 'Version' }, 'Message', 'Tags', 'Model', 'Made', ...(mayChange ? [''] : [])]}>
          {versions.map((version) => (
            <Row key={version.versionId} version={version} newest={prompt.version} mayChange={mayChange} />
          ))}
        </Table>
      )}
      {versions.length > 1 && <Comparison versions={versions} from={from} to={to} onCompare={onCompare} />}
    </>
  );
}

type RowProps = { readonly version: Prompt; readonly newest: number; readonly mayChange: boolean };

function Row({ version, newest, mayChange }: RowProps) {
  const { may } = useSession();
  const number = version.version;
  return (
    <tr>
      <td className={page.number}>{number}</td>
      <td>{nameControls(version.commitMessage ?? '')}</td>
      <td>
        <TagBadges prompt={version} />
      </td>
      <td className={page.mono}>{nameControls(version.model)}</td>
      <InstantCell at={version.createdAt} />
      {mayChange && (
        <td>
          <div className={page.buttons}>
            {may('prompts:update') && (
              <ModalButton small label="Tag" title={`Tag version ${number}`}>
                {(close) => <TagForm version={version} onClose={close} />}
              </ModalButton>
            )}
            {number !== newest && (
              <ConfirmButton
                small
                label="Restore"
                title={`Restore version ${number}`}
                action="Restore it"
                typed={null}
                method={PromptService.method.restorePromptVersion}
                input={{ id: version.id, versionId: version.versionId }}
              >
                Version {newest + 1} will hold what version {number} holds. Nothing is lost.
              </ConfirmButton>
            )}
          </div>
        </td>
      )}
    </tr>
  );
}

type ComparisonProps = Pick<VersionsProps, 'from' | 'to' | 'onCompare'> & { readonly versions: readonly Prompt[] };

function Comparison({ versions, from, to, onCompare }: ComparisonProps) {
  const find = (number: string | undefined) => versions.find(({ version }) => String(version) === number);
  const second = find(to) ?? versions[0];
  const first = find(from) ?? versions.find(({ version }) => version === (second?.version ?? 0) - 1) ?? versions.at(-1);
  if (!first || !second) return null;
  const options = versions.map(({ version }) => [String(version), `Version ${version}`] as const);
  const [one, other] = [String(first.version), String(second.version)];
  return (
    <Section title="What changed">
      <div className={styles.pair}>
        <SelectField label="From" value={one} options={options} onChange={(next) => onCompare(next, other)} />
        <SelectField label="To" value={other} options={options} onChange={(next) => onCompare(one, next)} />
      </div>
      <Differences first={first} second={second} />
    </Section>
  );
}

function Differences({ first, second }: { readonly first: Prompt; readonly second: Prompt }) {
  const [one, other] = [partsOf(first), partsOf(second)];
  const names = [...new Set([...one.keys(), ...other.keys()])];
  const changed = names.filter((name) => one.get(name) !== other.get(name));
  if (changed.length === 0) return <p className={page.soft}>Both have the same content.</p>;
  return (
    <dl className={`${page.card} ${page.padded}`}>
      {changed.map((name) => (
        <div key={name}>
          <dt className={styles.part}>{name}</dt>
          <dd>
            <Words runs={diffWords(one.get(name) ?? '', other.get(name) ?? '')} side="either" />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The parts of a version that people compare, by their names. */
function partsOf(prompt: Prompt): ReadonlyMap<string, string> {
  const inputs = prompt.inputs.map(({ identifier, type }) => `${identifier}: ${typeName(type)}`);
  return new Map([
    ...prompt.messages.map((message, index) => [nameOf(message, index), message.content ?? ''] as const),
    ['Model', prompt.model],
    ['Temperature', String(prompt.temperature ?? '')],
    ['Max tokens', String(prompt.maxTokens ?? '')],
    ['Variables', inputs.join('\n')],
    ['Parameters', prompt.parametersJson],
    ['Response format', prompt.responseFormatJson ?? ''],
  ]);
}

function nameOf(message: Prompt['messages'][number], index: number): string {
  return index === 0 ? roleName(message) : `Message ${index}, ${roleName(message).toLowerCase()}`;
}

function typeName(type: Prompt['inputs'][number]['type']): string {
  return TYPES.find(([each]) => each === type)?.[1] ?? 'other';
}
