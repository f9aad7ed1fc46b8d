import { Button } from '../../components/actions/Button.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
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
    <Dialog
      isOpen
      width="large"
      onClose={onClose}
      title={title}
      footer={
        <Button kind="primary" onClick={onClose}>
          {done}
        </Button>
      }
    >
      <SecretView secret={secret} />
    </Dialog>
  )
}
