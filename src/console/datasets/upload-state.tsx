import { FailureNotice } from '../design/failure.tsx';
import { Progress } from '../design/progress.tsx';
import type { Upload } from './upload.ts';

type UploadStateProps = { readonly upload: Upload | null; readonly error: unknown };

/** How far the upload of a large list is, or where it stopped. */
export function UploadState({ upload, error }: UploadStateProps) {
  return (
    <div role="status">
      {upload && upload.all > 1 && (
        <>
          <Progress label="Uploaded parts" done={upload.done} all={upload.all} />
          <p>
            {upload.done} of {upload.all} parts are there
            {error != null && upload.done > 0 && ', and stay'}.
          </p>
        </>
      )}
      {error != null && <FailureNotice error={error} />}
    </div>
  );
}
