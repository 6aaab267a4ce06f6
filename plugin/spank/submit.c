/* What the plugin does in sbatch, salloc and srun. */
#include "varq.h"

#include <stdlib.h>
#include <string.h>

/* start_submission registers the options. An sbatch or salloc that runs inside a
 * reservation submits another job, so start_submission first removes the traces of
 * that reservation from the environment. An srun there starts a step of the
 * reservation, and keeps them. */
int start_submission(spank_t sp)
{
	if (spank_context() == S_CTX_ALLOCATOR && getenv("SLURM_JOB_ID")) {
		unsetenv(TICKET_VARIABLE);
		spank_job_control_unsetenv(sp, TICKET_NAME);
		forget_options(sp);
	}
	return register_options(sp);
}

/* finish_submission puts the ticket into the environment of the job. Slurm calls it
 * after the cli_filter, and before it copies the environment for the job.
 *
 * Invariant: no job with varq's options is submitted without a promise, unless its ticket
 * says that it asks for none. So without
 * a ticket finish_submission ends the command. A return value would not do: Slurm
 * ignores it if the plugin is optional in plugstack.conf. */
int finish_submission(spank_t sp)
{
	if (!box_is_open())
		return 0;
	char ticket[TICKET_SIZE];
	if (take_ticket(ticket, sizeof ticket)) {
		slurm_error("varq: no reservation: the cli_filter of this cluster does not call varq.lua (see varq(7))");
		exit(EXIT_FAILURE);
	}
	hide_helper();
	forget_options(sp);
	spank_err_t err = spank_job_control_setenv(sp, TICKET_NAME, ticket, 1);
	if (err != ESPANK_SUCCESS || setenv(TICKET_VARIABLE, ticket, 1)) {
		slurm_error("varq: no reservation: the job's environment cannot be set");
		exit(EXIT_FAILURE);
	}
	return 0;
}
