import { Button } from '../../../components/actions/Button.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Progress } from '../../../components/feedback/Progress.tsx'
import { useTask } from '../../../hooks/task.ts'
import { suppressionStrings as strings } from '../strings.ts'
import { importTask } from './import-task.ts'

/** An import that goes on, or waits for its second half, while its dialog is closed. */
export function ImportNotice({ onShow }: { readonly onShow: () => void }) {
  const state = useTask(importTask)
  if (state.kind !== 'checking' && state.kind !== 'checked' && state.kind !== 'importing') return null
  const { file, progress, counts } = state
  const label = state.kind === 'importing' ? strings.importing(file.name) : strings.checking(file.name)
  return (
    <div className="mb-5">
      <Notice
        tone="info"
        title={state.kind === 'checked' ? `${file.name}: ${strings.wouldAdd(counts.added)}` : file.name}
        action={
          <Button size="small" onClick={onShow}>
            {strings.show}
          </Button>
        }
      >
        {state.kind !== 'checked' && <Progress label={label} value={progress} />}
      </Notice>
    </div>
  )
}
