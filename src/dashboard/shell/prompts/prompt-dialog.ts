/** What a dialog that a request waits for is given. */
export interface PromptDialogProps {
  /** Done, or given up: then what waited for it fails with the server's refusal. */
  readonly onAnswer: (isDone: boolean) => void
}
