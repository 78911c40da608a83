/** The settings of the organization. */

import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type Organization, OrganizationService } from '../../../gen/spandrel/v1/organization_pb.js';
import { CopyButton } from '../design/button.tsx';
import { FORM_CARD, Form, TextField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';

const NAME_CHARACTERS = 255;

export default function OrganizationPage() {
  const { may } = useSession();
  const found = useQuery(OrganizationService.method.getOrganization);
  const organization = found.data?.organization;
  return (
    <Page title="Organization">
      <Pending found={found} />
      {organization && (
        <>
          <p className={page.row}>
            <span className={page.mono}>{organization.id}</span> <CopyButton text={organization.id}>Copy id</CopyButton>
          </p>
          <p className={page.sub}>
            {nameControls(organization.slug)} · created <Instant at={organization.createdAt} />
          </p>
          {may('organization:manage') && <Change key={organization.id} organization={organization} />}
        </>
      )}
    </Page>
  );
}

function Change({ organization }: { readonly organization: Organization }) {
  const [name, setName] = useState(organization.name ?? '');
  const update = useChange(OrganizationService.method.updateOrganization);
  return (
    <Form
      className={FORM_CARD}
      action="Save"
      disabled={update.isPending || name.trim() === ''}
      error={update.error}
      outcome={update.isSuccess && 'Saved.'}
      onSubmit={() => update.mutate({ organization: { name: name.trim() }, updateMask: { paths: ['name'] } })}
    >
      <TextField label="Name" maxLength={NAME_CHARACTERS} value={name} onChange={setName} />
    </Form>
  );
}
