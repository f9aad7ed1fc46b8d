import { serveTasks } from '../../base/concurrency/worker-tasks.ts'
import { findFault, type RenderResult, renderParts, type TemplateFault, type TemplateSources } from './engine.ts'

// What the thread of renderer.ts does, one task after the other.

export interface RenderTask {
  readonly sources: TemplateSources
  readonly variables: object
}

const tasks = {
  check: (sources: TemplateSources): TemplateFault | undefined => findFault(sources),
  render: ({ sources, variables }: RenderTask): RenderResult => renderParts(sources, variables),
}

export type RenderTasks = typeof tasks

serveTasks(tasks)
