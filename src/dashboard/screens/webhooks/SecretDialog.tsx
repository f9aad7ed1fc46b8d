import { ResultDialog } from '../../components/overlays/ResultDialog.tsx'
import { SecretView } from './SecretView.tsx'

interface SecretDialogProps {
  readonly title: string
  readonly secret: string
  readonly done: string
  readonly onClose: () => void
}

/** Shows the secret of an endpoint, which is shown only once. */
export function SecretDialog({ title, secret, done, onClose }: SecretDialogProps) {
  return (
    <ResultDialog onClose={onClose} title={title} done={done} width="large">
      <SecretView secret={secret} />
    </ResultDialog>
  )
}
