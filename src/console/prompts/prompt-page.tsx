/** One prompt: its editor, its versions, its evaluation, and how applications read it. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type Prompt, PromptScope, PromptService } from '../../../gen/spandrel/v1/prompts_pb.js';
import { buttonClass, CopyButton } from '../design/button.tsx';
import { DeleteForGood } from '../design/confirm.tsx';
import { nameControls } from '../design/format.ts';
import { DetailPage } from '../design/frame.tsx';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back } from '../design/page.tsx';
import { Tabs } from '../design/tabs.tsx';
import { useProject, useSession } from '../session/session.tsx';
import { Editor } from './editor.tsx';
import { Evaluate } from './evaluate.tsx';
import { tracesOf } from './search.ts';
import { UsePrompt } from './use-prompt.tsx';
import { Versions } from './versions.tsx';

const route = getRouteApi('/$slug/prompts/$promptId');

const TABS = [
  ['editor', 'Editor'],
  ['versions', 'Versions'],
  ['evaluate', 'Evaluate'],
  ['use', 'Use it'],
] as const;

/** The target of a prompt's platformUrl. */
export default function PromptPage() {
  const { slug, promptId } = route.useParams();
  const { may } = useSession();
  const found = useQuery(PromptService.method.getPrompt, { id: promptId });
  return (
    <DetailPage
      back={<Back to="/$slug/prompts" params={{ slug }} label="Prompts" />}
      found={found}
      item={found.data?.prompt}
      show={(prompt) => ({
        title: nameControls(prompt.handle),
        sub: (
          <>
            Version {prompt.version} · {nameControls(prompt.model)} · changed <Instant at={prompt.updatedAt} />
            {prompt.scope === PromptScope.ORGANIZATION && ' · shared with the organization'}
          </>
        ),
        actions: (
          <div className={page.row}>
            <CopyButton text={prompt.handle}>Copy handle</CopyButton>
            {may('traces:view') && (
              <Link
                to="/$slug/traces"
                params={{ slug }}
                search={tracesOf(prompt.id)}
                className={buttonClass(undefined, true)}
              >
                Traces
              </Link>
            )}
          </div>
        ),
        children: <Parts key={prompt.id} slug={slug} prompt={prompt} />,
      })}
    />
  );
}

function Parts({ slug, prompt }: { readonly slug: string; readonly prompt: Prompt }) {
  const { tab = 'editor', from, to, experiment, run } = route.useSearch();
  const navigate = route.useNavigate();
  const project = useProject();
  const { may } = useSession();
  const isOwn = prompt.projectId === project.id;
  const mayChange = isOwn && may('prompts:update');
  const compare = (first: string, second: string) =>
    void navigate({ search: { tab: 'versions', from: first, to: second } });
  const versions = useQuery(PromptService.method.listPromptVersions, { id: prompt.id }, { enabled: tab === 'use' });
  const tags = (versions.data?.versions ?? [prompt]).flatMap((each) => each.tags.map(({ name }) => name));
  return (
    <>
      <Tabs
        label="Parts of the prompt"
        tabs={TABS}
        shown={tab}
        onShow={(name) => void navigate({ search: name === 'editor' ? {} : { tab: name } })}
      />
      {!isOwn && (
        <p className={page.soft} role="status">
          Another project has this prompt, and alone changes it. You can read, try and evaluate it.
        </p>
      )}
      {tab === 'editor' && <Editor slug={slug} prompt={prompt} mayChange={mayChange} onCompare={compare} />}
      {tab === 'versions' && <Versions prompt={prompt} mayChange={mayChange} from={from} to={to} onCompare={compare} />}
      {tab === 'evaluate' && (
        <Evaluate
          slug={slug}
          prompt={prompt}
          experiment={experiment}
          run={run}
          onRun={(place) => void navigate({ search: { tab: 'evaluate', ...place } })}
        />
      )}
      {tab === 'use' && <UsePrompt prompt={prompt} tags={[...new Set(tags)].filter((name) => name !== 'latest')} />}
      {tab === 'editor' && isOwn && may('prompts:manage') && <Removal slug={slug} prompt={prompt} />}
    </>
  );
}

function Removal({ slug, prompt }: { readonly slug: string; readonly prompt: Prompt }) {
  const navigate = route.useNavigate();
  return (
    <div>
      <DeleteForGood
        label="Delete the prompt"
        name={prompt.handle}
        method={PromptService.method.deletePrompt}
        input={{ id: prompt.id }}
        onDone={() => navigate({ to: '/$slug/prompts', params: { slug } })}
      >
        All its versions are deleted, and applications that read it get an error. This cannot be undone.
      </DeleteForGood>
    </div>
  );
}
