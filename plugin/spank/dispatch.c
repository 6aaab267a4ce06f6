/* What Slurm calls; what that means depends on the program which has loaded the
 * plugin. */
#include "varq.h"

SPANK_PLUGIN(varq, 1)

int slurm_spank_init(spank_t sp, int argc, char **argv)
{
	(void)argc, (void)argv;
	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
	case S_CTX_LOCAL:
		return start_submission(sp);
	case S_CTX_REMOTE: /* srun hands its options on: they must be known */
		return register_options(sp);
	default:
		return 0;
	}
}

int slurm_spank_init_post_opt(spank_t sp, int argc, char **argv)
{
	(void)argc, (void)argv;
	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
	case S_CTX_LOCAL:
		return finish_submission(sp);
	default:
		return 0;
	}
}

int slurm_spank_task_init(spank_t sp, int argc, char **argv)
{
	return hold_task(sp, wrapper_path(argc, argv));
}
