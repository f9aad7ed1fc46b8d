import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { Progress } from '../../../components/feedback/Progress.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Field } from '../../../components/fields/Field.tsx'
import { Select } from '../../../components/fields/Select.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { useTask } from '../../../hooks/task.ts'
import { suppressionStrings as strings } from '../strings.ts'
import { useBrandChoice } from '../useBrandChoice.ts'
import { ImportReport } from './ImportReport.tsx'
import { clearImport, importTask, runImport } from './import-task.ts'

interface ImportDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Imports a file: a dry run first, which says what would happen. It can be closed while it goes on. */
export function ImportDialog({ isOpen, onClose }: ImportDialogProps) {
  return isOpen ? <OpenImportDialog onClose={onClose} /> : null
}

function OpenImportDialog({ onClose }: { readonly onClose: () => void }) {
  const { api } = useOrganization()
  const { brandId, setBrandId, options } = useBrandChoice()
  const queryClient = useQueryClient()
  const state = useTask(importTask)
  const [file, setFile] = useState<File | null>(null)
  const id = useId()
  const run = async (chosen: File, isDry: boolean) => {
    await runImport(chosen, api, brandId, isDry)
    const end = importTask.get()
    if (end.kind === 'done') showToast(strings.importDone(chosen.name, end.counts.added + end.counts.unchanged))
    if (end.kind === 'failed') showToast(strings.importFailed(chosen.name), { kind: 'failed' })
    if (!isDry) await queryClient.invalidateQueries({ queryKey: ['suppressions'] })
  }
  const restart = <Button onClick={clearImport}>{strings.anotherFile}</Button>
  const close = () => {
    if (state.kind === 'done' || state.kind === 'failed') clearImport()
    onClose()
  }
  switch (state.kind) {
    case 'idle':
      return (
        <Dialog
          isOpen
          onClose={close}
          title={strings.importTitle}
          footer={
            <Button type="submit" form={id} kind="primary">
              {strings.checkFile}
            </Button>
          }
        >
          <form
            id={id}
            className="flex flex-col gap-4"
            onSubmit={event => {
              event.preventDefault()
              if (file) void run(file, true)
            }}
          >
            <p className="text-muted">{strings.importHint}</p>
            <Field label={strings.file}>
              {control => (
                <input
                  {...control}
                  type="file"
                  accept=".csv,text/csv,text/plain"
                  required
                  onChange={event => setFile(event.currentTarget.files?.[0] ?? null)}
                  className="input h-auto py-1.5 file:mr-3 file:rounded-sm file:bg-sunken file:px-2 file:py-0.5 file:text-sm file:font-medium"
                />
              )}
            </Field>
            {options.length > 1 && (
              <Select
                label={strings.importBrand}
                hint={strings.importBrandHint}
                value={brandId}
                onValue={setBrandId}
                options={options}
              />
            )}
          </form>
        </Dialog>
      )
    case 'checking':
    case 'importing': {
      const { file, progress } = state
      const label = state.kind === 'checking' ? strings.checking(file.name) : strings.importing(file.name)
      return (
        <Dialog isOpen onClose={close} title={strings.importTitle}>
          <Progress label={label} value={progress} />
          <p className="mt-3 text-sm text-muted">{strings.goesOn}</p>
        </Dialog>
      )
    }
    case 'checked': {
      const { file, counts } = state
      const count = counts.added + counts.unchanged
      return (
        <Dialog
          isOpen
          onClose={close}
          title={strings.importTitle}
          footer={
            <>
              {restart}
              {counts.added > 0 && (
                <Button kind="primary" onClick={() => void run(file, false)}>
                  {strings.importNow(counts.added)}
                </Button>
              )}
            </>
          }
        >
          <ImportReport counts={counts} isDry />
          {count === 0 && <p className="mt-3 text-muted">{strings.nothingToImport}</p>}
        </Dialog>
      )
    }
    case 'done':
      return (
        <Dialog
          isOpen
          onClose={close}
          title={strings.importTitle}
          footer={
            <Button kind="primary" onClick={close}>
              {strings.done}
            </Button>
          }
        >
          <ImportReport counts={state.counts} isDry={false} />
        </Dialog>
      )
    case 'failed':
      return (
        <Dialog isOpen onClose={close} title={strings.importTitle} footer={restart}>
          <Refusal error={state.error} />
        </Dialog>
      )
  }
}
