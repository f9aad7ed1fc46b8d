/** Between two ways of doing the same. */
export function OrLine({ text }: { readonly text: string }) {
  return (
    <div className="my-4 flex items-center gap-3 text-sm text-faint">
      <span className="h-px flex-1 bg-line" />
      {text}
      <span className="h-px flex-1 bg-line" />
    </div>
  )
}
