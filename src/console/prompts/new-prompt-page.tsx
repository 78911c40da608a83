import { getRouteApi } from '@tanstack/react-router';
import { PromptScope, PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { AreaField, FORM_CARD, Form, SelectField, TextField, useDraft } from '../design/form.tsx';
import { Back, Page } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { NEW_DRAFT, toContent } from './draft.ts';

const route = getRouteApi('/$slug/prompts/new');

const SCOPES = [
  [PromptScope.PROJECT, 'This project'],
  [PromptScope.ORGANIZATION, 'All projects of the organization'],
] as const;

const START = {
  handle: '',
  scope: PromptScope.PROJECT as PromptScope,
  model: NEW_DRAFT.model,
  system: '',
};

export default function NewPromptPage() {
  const { slug } = route.useParams();
  const navigate = route.useNavigate();
  const [draft, change] = useDraft(START);
  const create = useChange(PromptService.method.createPrompt, ({ prompt }) =>
    navigate({ to: '/$slug/prompts/$promptId', params: { slug, promptId: prompt?.id ?? '' } }),
  );
  const { handle, scope, model, system } = draft;
  const submit = () => {
    const { clear: _, ...content } = toContent({ ...NEW_DRAFT, system, model });
    create.mutate({ handle: handle.trim(), scope, draft: content });
  };
  return (
    <Page
      back={<Back to="/$slug/prompts" params={{ slug }} label="Prompts" />}
      title="New prompt"
      sub="Its first version. Further messages, variables and settings follow in the editor."
    >
      <Form
        className={FORM_CARD}
        action="Create the prompt"
        disabled={create.isPending || handle.trim() === '' || system.trim() === ''}
        error={create.error}
        onSubmit={submit}
      >
        <TextField
          label="Handle"
          field="handle"
          hint="Applications read the prompt by it: name or folder/name, of small letters, digits, - and _."
          maxLength={128}
          autoComplete="off"
          spellCheck={false}
          value={handle}
          onChange={(text) => change({ handle: text })}
        />
        <SelectField label="Seen by" value={scope} options={SCOPES} onChange={(next) => change({ scope: next })} />
        <TextField
          label="Model"
          field="model"
          hint="As vendor/model, for example openai/gpt-5."
          maxLength={255}
          spellCheck={false}
          value={model}
          onChange={(text) => change({ model: text })}
        />
        <AreaField
          label="System message"
          field="prompt"
          hint="{{name}} in it is a variable. A user message with {{input}} follows it; both can be changed later."
          rows={6}
          maxLength={16_384}
          value={system}
          onChange={(text) => change({ system: text })}
        />
      </Form>
    </Page>
  );
}
