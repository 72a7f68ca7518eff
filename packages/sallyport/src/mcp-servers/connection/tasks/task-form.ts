/** How a server runs calls as tasks: as 2025-11-25 has it, or as the extension of 2026-07-28. */
export type TaskForm = 'legacy' | 'modern';

/** Identifier of the tasks extension of 2026-07-28. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** Header of our own requests that becomes `Mcp-Name` before they are sent. */
export const TASK_NAME_HEADER = 'sallyport-task-name';
/** Longest id of a task that is kept, in characters. */
export const TASK_ID_CHARS_MAX = 1_024;
