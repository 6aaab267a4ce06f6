/* In sbatch, salloc and srun. */
#include "varq.h"

#include <stdlib.h>

/* start_submission drops what the environment holds of the reservation that an
 * sbatch or salloc is run in: its job is another one. An srun there starts a step
 * of that reservation. */
int start_submission(spank_t sp)
{
	if (spank_context() == S_CTX_ALLOCATOR && getenv("SLURM_JOB_ID")) {
		unsetenv(TICKET_VARIABLE);
		spank_job_control_unsetenv(sp, TICKET_NAME);
		forget_options(sp);
	}
	return register_options(sp);
}

/* finish_submission comes after the cli_filter, and before the environment for
 * the job is taken. Without a ticket it ends the command, as a return value
 * would be overlooked if plugstack.conf calls the plugin optional: a job with
 * varq's options, but without a promise, must not pass for a reservation. */
int finish_submission(spank_t sp)
{
	if (!box_is_open())
		return 0;
	char ticket[TICKET_SIZE];
	if (take_ticket(ticket, sizeof ticket)) {
		slurm_error("varq: no reservation: the cli_filter of this cluster does not call varq.lua (see varq(7))");
		exit(EXIT_FAILURE);
	}
	forget_options(sp);
	spank_err_t err = spank_job_control_setenv(sp, TICKET_NAME, ticket, 1);
	if (err != ESPANK_SUCCESS || setenv(TICKET_VARIABLE, ticket, 1)) {
		slurm_error("varq: no reservation: the job's environment cannot be set");
		exit(EXIT_FAILURE);
	}
	return 0;
}
